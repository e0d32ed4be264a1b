package storage_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestMirrorConsent(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Contacts(), newOrg(t, db)
		external := "kept"
		known, same, fresh, archived := newContact("Known@x"), newContact("same@x"), newContact("fresh@x"), newContact("archived@x")
		known.ExternalID, known.Attributes = &external, map[string]any{"plan": "pro"}
		known.TopicPreferences = []topics.Preference{prefer("old", sending.OptIn)}
		same.TopicPreferences = []topics.Preference{prefer("a", sending.OptIn), prefer("b", sending.OptOut)}
		fresh.UpdatedAt = later(100)
		archived.Status = contacts.Archived
		for _, c := range []contacts.Contact{known, same, fresh, archived} {
			must(t, store.InsertContact(ctx, org, c))
		}

		page := []sending.Contact{
			{Email: "KNOWN@x", Preferences: map[string]sending.Subscription{"superseded": sending.OptIn}},
			{Email: "known@X", UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptOut}},
			{Email: "same@x", Preferences: map[string]sending.Subscription{"b": sending.OptOut, "a": sending.OptIn}},
			{Email: "fresh@x", UnsubscribeAll: true},
			{Email: "archived@x", UnsubscribeAll: true},
			{Email: "New@x", Preferences: map[string]sending.Subscription{"news": sending.OptIn}},
		}
		got, _, err := db.Subscribers().MirrorConsent(ctx, org, page, later(50), later(60))
		must(t, err)
		if want := (topics.Mirrored{Created: 1, Updated: 1, Unchanged: 3}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
		again, _, err := db.Subscribers().MirrorConsent(ctx, org, page, later(61), later(70))
		must(t, err)
		if want := (topics.Mirrored{Unchanged: 5}); again != want {
			t.Errorf("the same page again: %+v, want %+v", again, want)
		}

		change := consent.Change{At: later(60).UnixMicro(), By: consent.ByAccount}
		news := map[string]consent.Change{"news": change}
		known.UnsubscribeAll, known.UpdatedAt = true, later(60)
		known.ConsentChanges = consent.Changes{UnsubscribeAll: &change, Topics: news}
		known.TopicPreferences = []topics.Preference{prefer("news", sending.OptOut)}
		created := newContact("New@x")
		created.TopicPreferences = []topics.Preference{prefer("news", sending.OptIn)}
		created.ConsentChanges.Topics = news
		created.CreatedAt, created.UpdatedAt, created.Shell = later(60), later(60), true
		for _, want := range []contacts.Contact{known, same, fresh, archived, created} {
			got, err := store.ContactByEmail(ctx, org, want.Email)
			must(t, err)
			if want.Email == created.Email {
				want.ID = got.ID
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", want.Email, diff)
			}
		}
		// MirrorConsent must also have updated the rows by which contacts are filtered by
		// topic.
		opted, err := store.Contacts(ctx, org, contacts.ContactFilter{Topic: "news", Limit: 10})
		must(t, err)
		out, err := store.Contacts(ctx, org, contacts.ContactFilter{Topic: "news", Subscription: sending.OptOut, Limit: 10})
		must(t, err)
		stale, err := store.Contacts(ctx, org, contacts.ContactFilter{Topic: "old", Limit: 10})
		must(t, err)
		if emails(opted) != "New@x " || emails(out) != "Known@x " || emails(stale) != "" {
			t.Errorf("by topic: news %q and %q, old %q", emails(opted), emails(out), emails(stale))
		}
	})
}

// TestMirrorsAtOnce checks that concurrent calls of MirrorConsent with overlapping pages
// create each contact once. They must not deadlock, although they list the contacts in
// opposite orders.
func TestMirrorsAtOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const size = 300
		store, org := db.Contacts(), newOrg(t, db)
		for _, err := range atOnce(6, func(i int) error {
			page := make([]sending.Contact, size)
			for j := range page {
				n := j
				if i%2 == 1 {
					n = size - 1 - j
				}
				page[j] = sending.Contact{
					Email: fmt.Sprintf("%d@x", n), UnsubscribeAll: i%2 == 1,
					Preferences: map[string]sending.Subscription{"t": sending.OptIn},
				}
			}
			_, _, err := db.Subscribers().MirrorConsent(t.Context(), org, page, later(i), later(i))
			return err
		}) {
			must(t, err)
		}
		all, err := store.Contacts(t.Context(), org, contacts.ContactFilter{Topic: "t", Limit: 2 * size})
		must(t, err)
		if len(all) != size {
			t.Errorf("%d contacts, want %d", len(all), size)
		}
	})
}

func TestTopics(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		must(t, db.Topics().ReplaceTopics(ctx, org, []sending.Topic{
			{Name: "b", DisplayName: "B", Description: "é", Default: sending.OptIn}, {Name: "a", Default: sending.OptOut}, {Name: "Z", Default: sending.OptOut},
		}, start))
		must(t, db.Topics().ReplaceTopics(ctx, org, []sending.Topic{
			{Name: "b", DisplayName: "Bee", Description: "é", Default: sending.OptIn}, {Name: "Z", Default: sending.OptOut},
		}, later(1)))
		got, err := db.Topics().Topics(ctx, org)
		must(t, err)
		want := []topics.Topic{
			{Name: "Z", Default: sending.OptOut, Origin: core.ManagedOrigin, Status: "active", CreatedAt: start, UpdatedAt: start},
			{Name: "b", DisplayName: "Bee", Description: "é", Default: sending.OptIn, Origin: core.ManagedOrigin, Status: "active", CreatedAt: start, UpdatedAt: later(1)},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Topics (-want +got):\n%s", diff)
		}
		must(t, db.Topics().ReplaceTopics(ctx, org, nil, later(2)))
		if got, err := db.Topics().Topics(ctx, org); err != nil || len(got) != 0 {
			t.Errorf("after replacing by none: %v, %v", got, err)
		}
	})
}

func TestContactListHeader(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		_, err := db.TopicSync().ContactList(ctx, org)
		wantCode(t, "before the first sync", err, core.CodeContactListNotSynced)
		l := topics.ContactList{Name: "main", Description: "d", LastSyncedAt: later(1), CreatedAt: start, UpdatedAt: later(1)}
		must(t, db.TopicSync().SaveContactList(ctx, org, l))
		l.LastSyncedAt = later(2)
		must(t, db.TopicSync().SaveContactList(ctx, org, l))
		got, err := db.TopicSync().ContactList(ctx, org)
		must(t, err)
		if diff := cmp.Diff(l, got); diff != "" {
			t.Errorf("ContactList (-want +got):\n%s", diff)
		}
	})
}
