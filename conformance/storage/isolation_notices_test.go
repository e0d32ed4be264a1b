package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/storage"
)

// ownNotice gives the organization a subscription to its measured domain, and an alert.
func (o *ownedObjects) ownNotice(t *testing.T, db *storage.DB) {
	t.Helper()
	d, store := o.measured.domain, db.DomainNotices()
	due := later(60)
	must(t, store.SaveSubscription(t.Context(), o.org, d.ID, "same", notices.Subscription{Alerts: true, DigestAt: &due}))
	o.noticed = notices.Notice{
		ID: core.NewID(), Ref: notices.Ref{OrgID: o.org, DomainID: d.ID, Domain: d.Name}, UserID: "same", Kind: notices.Alert, Day: figures.DayOf(start), Subject: "same", CreatedAt: start,
	}
	added, err := store.AddNotice(t.Context(), o.noticed)
	must(t, err)
	if !added {
		t.Fatal("the alert was not added")
	}
}

// noticeState returns the subscription and the alert of the organization, and its news.
func (o ownedObjects) noticeState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"Subscription", "Week", "News", "Subscribers", "AlertedOn", "Notice"} {
		found, err := storeCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	return seen
}

// noticeCalls returns calls about mails to members. The organization org makes them with the
// domain and the alert of another organization, o.
func noticeCalls(o ownedObjects, org string) map[string]storeCall {
	d := notices.Ref{OrgID: org, DomainID: o.measured.domain.ID, Domain: o.measured.domain.Name}
	alert := notices.NoticeRef{OrgID: org, ID: o.noticed.ID}
	from, to := figures.AddDays(start, -3), figures.AddDays(start, 4)
	return map[string]storeCall{
		"Subscription": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainNotices().Subscription(t.Context(), org, d.DomainID, "same")
		},
		"SaveSubscription": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DomainNotices().SaveSubscription(t.Context(), org, d.DomainID, "same", notices.Subscription{})
		},
		"MoveDigest": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainNotices().MoveDigest(t.Context(), notices.Due{Ref: d, UserID: "same", At: later(60)}, later(9))
		},
		"Week": func(t *testing.T, db *storage.DB) (any, error) {
			w, err := db.DomainNotices().Week(t.Context(), d, from, to)
			return int(w.Messages) + w.Unreviewed + len(w.Senders) + len(w.Findings) + len(w.Changes), err
		},
		"LockNews": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainNotices().LockNews(t.Context(), d, later(9))
		},
		"News": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainNotices().News(t.Context(), d)
		},
		"Announce": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DomainNotices().Announce(t.Context(), d)
		},
		"Subscribers": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainNotices().Subscribers(t.Context(), d)
		},
		"AlertedOn": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainNotices().AlertedOn(t.Context(), d, start)
		},
		"Notice": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainNotices().Notice(t.Context(), alert)
		},
		"Postpone": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DomainNotices().Postpone(t.Context(), alert, 7, later(9))
		},
		"EndNotice": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DomainNotices().EndNotice(t.Context(), alert)
		},
	}
}
