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

// TestAnAddressOfAShellWithActivitiesIsTaken checks that a write fails if it gives a
// contact the address of another one that only a sync has written and that has activities.
// In a bulk write, the other rows must succeed.
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

// TestCreatingFillsAShellWithActivities checks that contacts_create succeeds for the
// address of a shell (a contact that only a sync has written) with activities. The shell
// becomes the created contact, with the same id, so that it keeps its activities.
func TestCreatingFillsAShellWithActivities(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.activeShell(t, "shell@x.example")
	if made := b.Want(t, "contacts_create", `{"email":"shell@x.example"}`); made["id"] != id {
		t.Errorf("%v, want the id %s", made, id)
	}
	b.Refuse(t, "contacts_create", `{"email":"shell@x.example"}`, core.CodeConflict)
}

// TestAMoveOntoAShellThatGetsAnActivity checks a write that gives a contact the address of
// a shell (a contact that only a sync has written). After Prepare and before the
// transaction, the shell gets its first activity. The write and its repetition must fail,
// because the address is then taken.
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
