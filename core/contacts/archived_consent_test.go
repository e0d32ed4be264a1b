package contacts_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestArchivedOptOutsHold checks that every write that reactivates a contact keeps the
// contact's opt-outs in the database and at the sending account. That includes opt-outs
// that the account has deleted, and opt-outs that no sync has copied to the database.
// Consent that the write itself states replaces the opt-out.
func TestArchivedOptOutsHold(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.SyncNow(t)
		for _, write := range [][2]string{
			{"contacts_create", `"email":"ada@x.example"`},
			{"contacts_replace", `"email":"ada@x.example"`},
			{"contacts_upsert", `"email":"ada@x.example","attributes":{"city":"Oslo"}`},
			{"contacts_upsert_by_external_id", `"external_id":"1"`},
			{"contacts_bulk", `"external_id":"1","email":"ada@x.example"`},
		} {
			for _, states := range []bool{false, true} {
				for _, forgotten := range []bool{false, true} {
					b.writeAs(t, "contacts_upsert_by_external_id", `{"external_id":"1","email":"ada@x.example","unsubscribe_all":false,"topic_preferences":{"news":"OPT_IN"}}`)
					b.Advance(time.Minute)
					b.PutAtAccount(t, sending.Contact{Email: "ada@x.example", UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptOut}})
					b.Want(t, "contacts_archive", `{"email":"ada@x.example"}`)
					if c := b.Want(t, "contacts_lookup", `{"email":"ada@x.example"}`); c["unsubscribe_all"] != true || contactstest.Choices(c)["news"] != "OPT_OUT" {
						t.Fatalf("archived as %v", c)
					}
					b.Advance(time.Minute)
					if forgotten {
						if err := b.Account.DeleteContact(t.Context(), b.Org.ID, "ada@x.example"); err != nil {
							t.Fatal(err)
						}
					}
					consent := ""
					if states {
						consent = `,"unsubscribe_all":false,"topic_preferences":{"news":"OPT_IN"}`
					}
					b.writeAs(t, write[0], "{"+write[1]+consent+"}")
					want := sending.OptOut
					if states {
						want = sending.OptIn
					}
					held, there := b.AccountContact(t, "ada@x.example")
					c := b.Want(t, "contacts_lookup", `{"email":"ada@x.example"}`)
					if !there || held.UnsubscribeAll == states || held.Preferences["news"] != want ||
						c["unsubscribe_all"] == states || contactstest.Choices(c)["news"] != string(want) || c["status"] != "active" {
						t.Errorf("%s %s%s, forgotten %v: the account holds %+v, here it is %v", write[0], write[1], consent, forgotten, held, c)
					}
				}
			}
		}
	})
}

// TestCreatedContactsKeepTheAccountsOptOuts checks that creating a contact keeps an opt-out
// that the sending account has for its address, whether or not a sync copied the opt-out
// before.
func TestCreatedContactsKeepTheAccountsOptOuts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.PutAtAccount(t, sending.Contact{Email: "a@x.example", Preferences: map[string]sending.Subscription{"news": sending.OptOut, "offers": sending.OptIn}})
	b.SyncLater(t)
	b.PutAtAccount(t, sending.Contact{Email: "b@x.example", Preferences: map[string]sending.Subscription{"news": sending.OptOut}})
	for _, write := range [][2]string{{"contacts_create", `{"email":"a@x.example"}`}, {"contacts_replace", `{"email":"b@x.example"}`}} {
		if c := b.Want(t, write[0], write[1]); len(contactstest.Choices(c)) != 1 || contactstest.Choices(c)["news"] != "OPT_OUT" {
			t.Errorf("%s %s: %v", write[0], write[1], c)
		}
	}
	if c := b.Want(t, "contacts_replace", `{"email":"b@x.example"}`); len(contactstest.Choices(c)) != 0 {
		t.Errorf("a PUT of a contact in use states its choices: %v", c)
	}
}

// TestArchivedContactsAreReadWithoutTheAccount checks that an archived contact can be read
// while the sending account fails. The account must not be called, because archiving
// removed the address from it.
func TestArchivedContactsAreReadWithoutTheAccount(t *testing.T) {
	t.Parallel()
	b := setupOn(t, storagetest.SQLite(t))
	b.Want(t, "contacts_create", `{"email":"ada@x.example"}`)
	b.Want(t, "contacts_archive", `{"email":"ada@x.example"}`)
	b.Account.Faults().Set(simulator.Fault{Method: simulator.MethodContact, Kind: sending.Refused})
	if c := b.Want(t, "contacts_lookup", `{"email":"ada@x.example"}`); c["status"] != "archived" {
		t.Errorf("looked up %v", c)
	}
}
