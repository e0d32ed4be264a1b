package storage_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestContactRoundTrip(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Contacts(), newOrg(t, db)
		external := "crm-1"
		c := newContact("Zoë.Müller@Example.com")
		c.ExternalID, c.UnsubscribeAll = &external, true
		c.Attributes = map[string]any{"plan": "pro <&>", "seats": 12.5, "vip": true, "since": "2026-01-01T00:00:00Z"}
		c.TopicPreferences = []topics.Preference{prefer("a", sending.OptOut), prefer("b", sending.OptIn)}
		must(t, store.InsertContact(ctx, org, c))

		finders := map[string]func() (contacts.Contact, error){
			"by email":       func() (contacts.Contact, error) { return store.ContactByEmail(ctx, org, "zoë.MÜLLER@example.COM") },
			"by external id": func() (contacts.Contact, error) { return store.ContactByExternalID(ctx, org, external) },
			"by id":          func() (contacts.Contact, error) { return store.ContactByID(ctx, org, c.ID) },
		}
		for how, find := range finders {
			got, err := find()
			must(t, err)
			if diff := cmp.Diff(c, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", how, diff)
			}
		}

		c.Email, c.ExternalID, c.Status, c.UnsubscribeAll, c.UpdatedAt = "new@example.com", nil, contacts.Archived, false, later(9)
		c.Attributes = map[string]any{"gone": nil, "seats": 13.0}
		c.TopicPreferences = []topics.Preference{prefer("c", sending.OptIn)}
		must(t, store.UpdateContact(ctx, org, c))
		got, err := store.ContactByEmail(ctx, org, "new@example.com")
		must(t, err)
		c.Attributes = map[string]any{"seats": 13.0}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("after UpdateContact (-want +got):\n%s", diff)
		}
		_, err = store.ContactByExternalID(ctx, org, external)
		wantCode(t, "the external id that was given up", err, core.CodeNotFound)
	})
}

func TestContactConflictsLeaveTheTransactionUsable(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		store, org := db.Contacts(), newOrg(t, db)
		external, free := "taken", "free"
		owner, other := newContact("owner@example.com"), newContact("other@example.com")
		owner.ExternalID, owner.Status = &external, contacts.Archived
		must(t, store.InsertContact(t.Context(), org, owner))
		must(t, store.InsertContact(t.Context(), org, other))

		must(t, db.InTx(t.Context(), func(ctx context.Context) error {
			sameAddress, sameExternal := newContact("OWNER@example.com"), newContact("new@example.com")
			sameExternal.ExternalID = &external
			wantCode(t, "insert: address", store.InsertContact(ctx, org, sameAddress), core.CodeConflict)
			wantCode(t, "insert: external id", store.InsertContact(ctx, org, sameExternal), core.CodeConflict)

			sameAddress.ID, sameExternal.ID = other.ID, other.ID
			wantCode(t, "update: address", store.UpdateContact(ctx, org, sameAddress), core.CodeConflict)
			wantCode(t, "update: external id", store.UpdateContact(ctx, org, sameExternal), core.CodeConflict)
			unknown := newContact("unknown@example.com")
			wantCode(t, "update: unknown", store.UpdateContact(ctx, org, unknown), core.CodeNotFound)

			other.ExternalID = &free
			return store.UpdateContact(ctx, org, other)
		}))
		if _, err := store.ContactByExternalID(t.Context(), org, free); err != nil {
			t.Errorf("the write after the conflicts: %v", err)
		}
	})
}

func TestRacesForAnAddress(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const racers = 40
		store, org, external := db.Contacts(), newOrg(t, db), "wanted"
		wantOneWinner(t, atOnce(racers, func(int) error {
			c := newContact("wanted@example.com")
			c.TopicPreferences = []topics.Preference{prefer("news", sending.OptIn)}
			return store.InsertContact(t.Context(), org, c)
		}), core.CodeConflict)

		// On PostgreSQL two updates can both read the contacts before either one writes. The
		// second one then fails on the unique index.
		contacts := make([]contacts.Contact, racers)
		for i := range contacts {
			contacts[i] = newContact(core.NewID() + "@example.com")
			must(t, store.InsertContact(t.Context(), org, contacts[i]))
		}
		wantOneWinner(t, atOnce(racers, func(i int) error {
			c := contacts[i]
			c.ExternalID = &external
			return store.UpdateContact(t.Context(), org, c)
		}), core.CodeConflict)
	})
}

func TestContactFilters(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Contacts(), newOrg(t, db)
		must(t, db.Topics().ReplaceTopics(ctx, org, []sending.Topic{{Name: "in", Default: sending.OptIn}, {Name: "out", Default: sending.OptOut}}, start))
		silent, yes, no := newContact("silent@x"), newContact("yes@x"), newContact("no@x")
		yes.TopicPreferences = []topics.Preference{prefer("in", sending.OptIn), prefer("out", sending.OptIn)}
		yes.Attributes = map[string]any{"n": 30.0, "b": true, "s": `say "hi"\`, "quoted": "30"}
		no.TopicPreferences = []topics.Preference{prefer("in", sending.OptOut), prefer("out", sending.OptOut)}
		no.Attributes = map[string]any{"n": 30.5, "b": false, "s": "hi"}
		no.UnsubscribeAll = true
		archived := newContact("archived@x")
		archived.Status, archived.Attributes = contacts.Archived, yes.Attributes
		for i, c := range []contacts.Contact{silent, yes, no, archived} {
			c.CreatedAt = later(i)
			must(t, store.InsertContact(ctx, org, c))
		}

		truth, lie := true, false
		attribute := func(key, value string) contacts.ContactFilter {
			return contacts.ContactFilter{AttributeKey: key, AttributeValue: &value}
		}
		for _, test := range []struct {
			name   string
			filter contacts.ContactFilter
			want   string // newest first
		}{
			{"none", contacts.ContactFilter{}, "no@x yes@x silent@x "},
			{"archived", contacts.ContactFilter{Status: contacts.Archived}, "archived@x "},
			{"archived and subscribed", contacts.ContactFilter{Status: contacts.Archived, Topic: "in", AttributeKey: "n", AttributeValue: ptr("30")}, "archived@x "},
			{"subscribed", contacts.ContactFilter{Topic: "in"}, "yes@x silent@x "},
			{"subscribed where the default is out", contacts.ContactFilter{Topic: "out"}, "yes@x "},
			{"opted in, by default too", contacts.ContactFilter{Topic: "in", Subscription: sending.OptIn}, "yes@x silent@x "},
			{"opted out", contacts.ContactFilter{Topic: "in", Subscription: sending.OptOut}, "no@x "},
			{"opted out, by default too", contacts.ContactFilter{Topic: "out", Subscription: sending.OptOut}, "no@x silent@x "},
			{"unknown topic", contacts.ContactFilter{Topic: "?", Subscription: sending.OptIn}, ""},
			{"opted out of all", contacts.ContactFilter{UnsubscribeAll: &truth}, "no@x "},
			{"not opted out of all", contacts.ContactFilter{UnsubscribeAll: &lie}, "yes@x silent@x "},
			{"number", attribute("n", "30"), "yes@x "},
			{"fraction", attribute("n", "30.5"), "no@x "},
			{"text that is a number", attribute("quoted", "30"), "yes@x "},
			{"boolean", attribute("b", "true"), "yes@x "},
			{"false", attribute("b", "false"), "no@x "},
			{"text", attribute("s", `say "hi"\`), "yes@x "},
			{"JSON of a text is not its text", attribute("s", `"hi"`), ""},
			{"null matches nothing", attribute("missing", "null"), ""},
			{"a path is no name", attribute("$.n", "30"), ""},
			{"all together", contacts.ContactFilter{Topic: "in", UnsubscribeAll: &lie, AttributeKey: "n", AttributeValue: ptr("30")}, "yes@x "},
		} {
			test.filter.Limit = 10
			got, err := store.Contacts(ctx, org, test.filter)
			must(t, err)
			if emails(got) != test.want {
				t.Errorf("%s: got %q, want %q", test.name, emails(got), test.want)
			}
		}
	})
}

func ptr(s string) *string { return &s }
