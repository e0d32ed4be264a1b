package contacts_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// activeShell creates a shell (a contact that only a sync has written) with an activity,
// and returns its id.
func (b bundle) activeShell(t *testing.T, email string) string {
	t.Helper()
	p := b.stub(t, email)
	b.Advance(time.Second)
	if _, _, err := b.DB.Subscribers().MirrorConsent(t.Context(), b.Org.ID, []sending.Contact{{Email: email}}, b.Clock(), b.Clock()); err != nil {
		t.Fatal(err)
	}
	b.act(t, p.ID)
	return p.ID
}

// act stores an activity of the contact.
func (b bundle) act(t *testing.T, contactID string) {
	t.Helper()
	act := activities.Activity{
		ID: core.NewID(), ContactID: contactID, Name: "seen", OccurredAt: b.Clock(), ReceivedAt: b.Clock(), Source: activities.FromAPI, Properties: []byte("{}"),
	}
	if err := b.DB.Activities().Insert(t.Context(), b.Org.ID, []activities.Activity{act}); err != nil {
		t.Fatal(err)
	}
}

// TestAnAddressOfAShellWithActivitiesIsTaken checks writes that give a contact the address
// of another one that only a sync has written and that has activities. That contact is not
// deleted, so the address is taken. In a bulk write, only that row must fail.
func TestAnAddressOfAShellWithActivitiesIsTaken(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.activeShell(t, "shell@x.example")
		b.Want(t, "contacts_upsert_by_external_id", `{"external_id":"x","email":"old@x.example"}`)
		const move = `{"external_id":"x","email":"shell@x.example"}`
		b.Refuse(t, "contacts_upsert_by_external_id", move, core.CodeContactEmailTaken)
		if _, there := b.AccountContact(t, "old@x.example"); !there {
			t.Error("the refused write removed the old address from the account")
		}
		rows := b.WriteRows(t, move, `{"email":"other@x.example"}`, `{"external_id":"x","email":"new@x.example"}`)
		for i, want := range []string{"failed", "created", "updated"} {
			if rows[i]["status"] != want {
				t.Errorf("row %d: %v, want %s", i, rows[i], want)
			}
		}
	})
}

// TestCreatingFillsAShellWithActivities checks that a shell with activities can still be
// created, because no caller has written it. It keeps its id, and with it its activities.
func TestCreatingFillsAShellWithActivities(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.activeShell(t, "shell@x.example")
	if made := b.Want(t, "contacts_create", `{"email":"shell@x.example"}`); made["id"] != id {
		t.Errorf("%v, want the id %s", made, id)
	}
	b.Refuse(t, "contacts_create", `{"email":"shell@x.example"}`, core.CodeConflict)
}

// TestAMoveOntoAShellThatGetsAnActivity checks a change of address to that of a shell which
// gets its first activity between the two steps of the write. The write must fail, and
// repeating it must be refused because the address is taken.
func TestAMoveOntoAShellThatGetsAnActivity(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.Want(t, "contacts_upsert_by_external_id", `{"external_id":"x","email":"old@x.example"}`)
		b.Advance(time.Second)
		const email, move = "shell@x.example", `{"external_id":"x","email":"shell@x.example"}`
		if _, _, err := db.Subscribers().MirrorConsent(t.Context(), b.Org.ID, []sending.Contact{{Email: email}}, b.Clock(), b.Clock()); err != nil {
			t.Fatal(err)
		}
		shell, err := db.Contacts().ContactByEmail(t.Context(), b.Org.ID, email)
		if err != nil {
			t.Fatal(err)
		}
		_, failed := b.race(t, "contacts_upsert_by_external_id", move, func() { b.act(t, shell.ID) })
		if failed == nil || failed.Code != core.CodeContactEmailTaken {
			t.Errorf("%v", failed)
		}
		b.Refuse(t, "contacts_upsert_by_external_id", move, core.CodeContactEmailTaken)
	})
}
