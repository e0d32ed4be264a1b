package dmarc

import (
	"context"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// NoticeStore stores what members are mailed.
type NoticeStore interface {
	notices.SubscriptionStore
	notices.DigestStore
	notices.AlertStore
	notices.NoticeStore
}

// notices returns what mails members about domains.
func (r *Reports) notices(steps notices.Steps, pages string) *notices.Notices {
	s := r.stores
	return notices.New(notices.Config{
		Subscriptions: s.Notices, Digests: s.Notices, Alerts: s.Notices, Queue: s.Notices, Recipients: s.Recipients, Steps: steps, Transactor: s.Transactor, Readers: s.Readers, Senders: s.Senders,
		PageURL: func(domain string) string { return pages + "/" + url.PathEscape(domain) }, Clock: r.clock, Log: r.log,
	})
}

// Readers is the [notices.Readers] of the product.
type Readers struct {
	Members members.Store
	Users   people.UserStore
}

// Address returns the address of a member who may see domain authentication. It returns false
// for other people, and for a member whose account is disabled.
func (r Readers) Address(ctx context.Context, orgID, userID string) (string, bool, error) {
	member, err := r.Members.Member(ctx, orgID, userID)
	if core.IsNotFound(err) || err == nil && !member.Has(members.MayViewDomainAuth) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	user, err := r.Users.UserByID(ctx, userID)
	if core.IsNotFound(err) {
		return "", false, nil
	}
	return user.Email, err == nil && user.DisabledAt == nil, err
}
