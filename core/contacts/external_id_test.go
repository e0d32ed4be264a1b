package contacts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestUpsertByExternalIDMergesAndMoves(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		const put = "contacts_upsert_by_external_id"
		b.Refuse(t, put, `{"external_id":"crm/1"}`, core.CodeUnknownExternalID)
		made := b.Want(t, put, `{"external_id":"crm/1","email":"Ada@example.com","attributes":{"age":36,"city":"Rome"},"topic_preferences":{"news":"OPT_OUT"},"unsubscribe_all":true,"lists":["beta"]}`)
		if made["email"] != "Ada@example.com" || made["external_id"] != "crm/1" || !cmp.Equal(contactstest.ListKeys(made), []string{"beta"}) {
			t.Errorf("made %v", made)
		}
		kept := b.Want(t, put, `{"external_id":"crm/1","attributes":{"age":null},"topic_preferences":{"offers":"OPT_IN"},"lists":null,"unsubscribe_all":null}`)
		want := map[string]any{"news": "OPT_OUT", "offers": "OPT_IN"}
		if kept["id"] != made["id"] || kept["email"] != "Ada@example.com" || kept["unsubscribe_all"] != true ||
			!cmp.Equal(kept["attributes"], any(map[string]any{"city": "Rome"})) || !cmp.Equal(contactstest.Choices(kept), want) || !cmp.Equal(contactstest.ListKeys(kept), []string{"beta"}) {
			t.Errorf("kept %v", kept)
		}
		moved := b.Want(t, put, `{"external_id":"crm/1","email":"ada@bücher.example","unsubscribe_all":false,"lists":[]}`)
		if moved["id"] != made["id"] || moved["email"] != "ada@xn--bcher-kva.example" || len(contactstest.ListKeys(moved)) != 0 {
			t.Errorf("moved %v", moved)
		}
		if _, there := b.AccountContact(t, "ada@example.com"); there {
			t.Error("the address it left is still at the account")
		}
		if at, there := b.AccountContact(t, "ada@xn--bcher-kva.example"); !there || at.UnsubscribeAll || len(at.Preferences) != 2 {
			t.Errorf("at the account: %+v, %t", at, there)
		}
	})
}

func TestExternalIDRefusalsAndRebinding(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		const put = "contacts_upsert_by_external_id"
		one := b.Want(t, put, `{"external_id":"1","email":"one@example.com"}`)
		b.Want(t, put, `{"external_id":"2","email":"two@example.com"}`)
		b.Want(t, "contacts_create", `{"email":"free@example.com","attributes":{"city":"Rome"}}`)

		b.Refuse(t, put, `{"external_id":"1","email":"two@example.com"}`, core.CodeContactEmailTaken)
		b.Refuse(t, put, `{"external_id":"1","email":"two@example.com","rebind_external_id":true}`, core.CodeContactEmailTaken)
		b.Refuse(t, put, `{"external_id":"1","email":"free@example.com"}`, core.CodeContactEmailTaken)
		mismatch := b.Refusal(t, put, `{"external_id":"3","email":"ONE@example.com"}`, core.CodeContactExternalIDMismatch)
		if !cmp.Equal(mismatch.Extra, map[string]any{"incumbent_external_id": "1", "incumbent_archived": false}) {
			t.Errorf("mismatch with %v", mismatch.Extra)
		}
		taken := b.Want(t, put, `{"external_id":"4","email":"free@example.com"}`)
		if taken["external_id"] != "4" || !cmp.Equal(taken["attributes"], any(map[string]any{"city": "Rome"})) {
			t.Errorf("a contact without an id did not get this one: %v", taken)
		}
		b.Want(t, "contacts_archive_by_external_id", `{"external_id":"1"}`)
		mismatch = b.Refusal(t, put, `{"external_id":"3","email":"one@example.com"}`, core.CodeContactExternalIDMismatch)
		if mismatch.Extra["incumbent_archived"] != true {
			t.Errorf("mismatch with %v", mismatch.Extra)
		}
		rebound := b.Want(t, put, `{"external_id":"3","email":"one@example.com","rebind_external_id":true}`)
		if rebound["id"] != one["id"] || rebound["external_id"] != "3" || rebound["status"] != "active" {
			t.Errorf("rebound %v", rebound)
		}
		b.Refuse(t, put, `{"external_id":"1"}`, core.CodeUnknownExternalID)
	})
}

// TestArchiveByExternalID checks that archiving by external id removes the contact from all
// lists. Each removal is in the membership log, and repeating the call succeeds.
func TestArchiveByExternalID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.Want(t, "contacts_upsert_by_external_id", `{"external_id":"1","email":"one@example.com","lists":["beta","customers"]}`)
	b.TakeChanged()
	for _, id := range []string{"1", "1", "nobody"} {
		b.Want(t, "contacts_archive_by_external_id", `{"external_id":"`+id+`"}`)
	}
	if got := b.TakeChanged(); !cmp.Equal(got, []string{b.Org.ID + "/" + made["id"].(string)}) {
		t.Errorf("told of %v", got)
	}
	log, err := b.DB.ListMembers().MembershipLog(t.Context(), b.Org.ID, nil, 10)
	if err != nil || len(log) != 4 {
		t.Fatalf("%d lines, %v", len(log), err)
	}
	remaining := 0
	for _, line := range log {
		if !line.Entered && line.ContactID == made["id"] {
			remaining++
		}
	}
	if remaining != 2 {
		t.Errorf("left %d lists: %+v", remaining, log)
	}
}
