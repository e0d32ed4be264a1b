package activities_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage"
)

func TestAnActivityFindsItsContact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		ann, bob := b.contact(t, "ann@x.example", "u1"), b.contact(t, "Bob@x.example", "")
		gone := b.contact(t, "gone@x.example", "u9", func(c *contacts.Contact) { c.Status = contacts.Archived })
		for _, tc := range []struct{ why, identity, contact string }{
			{"external id", `"external_id":"u1"`, ann},
			{"address", `"email":"ann@x.example"`, ann},
			{"address in another case", `"email":"bOB@X.example"`, bob},
			{"external id before address", `"external_id":"u1","email":"bob@x.example"`, ann},
			{"external id, and a new address", `"external_id":"u1","email":"new@x.example"`, ann},
			{"an archived contact by external id", `"external_id":"u9"`, gone},
			{"an archived contact by address", `"email":"gone@x.example"`, gone},
			{"null is nothing", `"external_id":null,"email":"ann@x.example"`, ann},
		} {
			got := b.record(t, `{"name":"seen",%s}`, tc.identity)
			if got[0].Status != "accepted" || got[0].ContactID != tc.contact {
				t.Errorf("%s: %+v, want %s", tc.why, got[0], tc.contact)
			}
		}
		if c, err := db.Contacts().ContactByID(t.Context(), b.org.ID, gone); err != nil || c.Status != contacts.Archived {
			t.Errorf("an archived contact came back: %+v, %v", c, err)
		}
		if _, err := db.Contacts().ContactByEmail(t.Context(), b.org.ID, "new@x.example"); core.AsError(err).Code != core.CodeNotFound {
			t.Errorf("a contact was made for an address beside a known external id: %v", err)
		}
	})
}

func TestAnUnknownAddressMakesAStub(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		got := b.record(t, `{"name":"seen","email":"New@x.example","external_id":"u2"},{"name":"seen","email":"new@x.example"},{"name":"seen","external_id":"u2"}`)
		for _, item := range got {
			if item.Status != "accepted" || item.ContactID != got[0].ContactID {
				t.Fatalf("%+v", got)
			}
		}
		c, err := db.Contacts().ContactByEmail(t.Context(), b.org.ID, "new@x.example")
		if err != nil {
			t.Fatal(err)
		}
		if !c.Stub || c.Shell || c.ID != got[0].ContactID || c.Email != "New@x.example" || *c.ExternalID != "u2" || c.Status != contacts.Active ||
			len(c.Attributes)+len(c.TopicPreferences) != 0 || c.UnsubscribeAll {
			t.Errorf("the stub is %+v", c)
		}
	})
}

func TestExternalIDsAreBoundOrRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		ann, bob := b.contact(t, "ann@x.example", "u1"), b.contact(t, "bob@x.example", "")
		got := b.record(t, `{"name":"a","external_id":"nobody"},`+ // 0
			`{"name":"a","email":"ann@x.example","external_id":"u7"},`+ // 1: she is u1
			`{"name":"a","email":"bob@x.example","external_id":"u8"},`+ // 2: he becomes u8
			// item 3: refused, because item 2 bound u8 to bob
			`{"name":"a","email":"bob@x.example","external_id":"u9"},`+
			`{"name":"a","external_id":"u8"},`+ // 4
			`{"name":"a","email":"eve@x.example","external_id":"u10"},`+ // 5: made with it
			`{"name":"a","email":"eve@x.example","external_id":"u11"},`+ // 6
			`{"name":"a","email":"new@x.example","external_id":"u10"}`) // 7: eve, whatever the address
		for i, tc := range []struct {
			reason  activities.Reason
			contact string
		}{
			{activities.UnknownExternalID, ""},
			{activities.ExternalIDConflict, ""},
			{"", bob},
			{activities.ExternalIDConflict, ""},
			{"", bob},
			{"", got[5].ContactID},
			{activities.ExternalIDConflict, ""},
			{"", got[5].ContactID},
		} {
			if got[i].Reason != tc.reason || got[i].ContactID != tc.contact || got[i].Index != i {
				t.Errorf("item %d: %+v, want %+v", i, got[i], tc)
			}
		}
		for email, id := range map[string]string{"ann@x.example": "u1", "bob@x.example": "u8", "eve@x.example": "u10"} {
			c, err := db.Contacts().ContactByEmail(t.Context(), b.org.ID, email)
			if err != nil || c.ExternalID == nil || *c.ExternalID != id {
				t.Errorf("%s: %+v, %v", email, c, err)
			}
		}
		if again := b.record(t, `{"name":"a","external_id":"u8"}`); again[0].ContactID != bob || ann == bob {
			t.Errorf("later: %+v", again)
		}
	})
}

// TestOneContactOutOfManyBatches checks that many concurrent batches that name the same new
// contacts create each contact once, on SQLite and PostgreSQL.
func TestOneContactOutOfManyBatches(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		const callers, people = 24, 5
		var wait sync.WaitGroup
		results := make([][]activities.ItemResult, callers)
		for i := range callers {
			wait.Go(func() {
				items := ""
				for p := range people {
					// Each caller sends the contacts in another order. Every second caller also
					// sends external ids.
					who := (p + i) % people
					items += fmt.Sprintf(`,{"name":"seen","email":"p%d@x.example"`, who)
					if i%2 == 0 {
						items += fmt.Sprintf(`,"external_id":"u%d"`, who)
					}
					items += "}"
				}
				results[i] = b.recordAside(t, items[1:])
			})
		}
		wait.Wait()
		contacts := map[string]bool{}
		for _, result := range results {
			for _, item := range result {
				if item.Status != "accepted" {
					t.Errorf("%+v", item)
				}
				contacts[item.ContactID] = true
			}
		}
		if len(contacts) != people {
			t.Errorf("%d contacts of %d people", len(contacts), people)
		}
		for p := range people {
			c, err := db.Contacts().ContactByExternalID(t.Context(), b.org.ID, fmt.Sprintf("u%d", p))
			if err != nil || c.Email != fmt.Sprintf("p%d@x.example", p) || !contacts[c.ID] {
				t.Errorf("u%d: %+v, %v", p, c, err)
			}
		}
	})
}
