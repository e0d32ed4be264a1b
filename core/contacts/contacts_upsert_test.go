package contacts_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/sending"
)

func contextPair(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func upserting(t *testing.T) bundle {
	b := setup(t)
	b.Surface = core.Agent
	return b
}

func TestUpsertResults(t *testing.T) {
	t.Parallel()
	b := upserting(t)
	for _, tc := range []struct{ arguments, result, note string }{
		{`{"email":"a@example.com","attributes":{"age":1}}`, "created", "Mailable."},
		{`{"email":"a@example.com","attributes":{"city":"Rome"}}`, "updated", "Mailable."},
		{`{"email":"a@example.com","topic_preferences":{"news":"OPT_OUT"}}`, "updated", "Mailable, except about topics the contact opted out of."},
		{`{"email":"a@example.com","unsubscribe_all":true}`, "updated", "Not mailable: the contact opted out of everything."},
	} {
		got := b.Want(t, "contacts_upsert", tc.arguments)
		if got["result"] != tc.result || got["mailable_note"] != tc.note {
			t.Errorf("%s: %v, %v", tc.arguments, got["result"], got["mailable_note"])
		}
	}
	got := b.Want(t, "contacts_lookup", `{"email":"a@example.com"}`)["contact"].(map[string]any)
	if attributes := got["attributes"].(map[string]any); attributes["age"] != 1.0 || attributes["city"] != "Rome" {
		t.Errorf("nothing that is left out is touched: %v", attributes)
	}
	b.Want(t, "contacts_archive", `{"email":"a@example.com"}`)
	if got := b.Want(t, "contacts_upsert", `{"email":"a@example.com","unsubscribe_all":false}`); got["result"] != "reactivated" {
		t.Errorf("got %v", got["result"])
	}
}

func TestUpsertByExternalID(t *testing.T) {
	t.Parallel()
	b := upserting(t)
	b.Want(t, "contacts_upsert", `{"email":"a@example.com","external_id":"u1"}`)
	b.Want(t, "contacts_upsert", `{"email":"b@example.com","external_id":"u2"}`)
	b.Want(t, "contacts_upsert", `{"email":"c@example.com"}`)

	moved := b.Want(t, "contacts_upsert", `{"external_id":"u1","email":"new@example.com"}`)["contact"].(map[string]any)
	if moved["email"] != "new@example.com" || moved["external_id"] != "u1" {
		t.Errorf("a new address for a known id: %v", moved)
	}
	if _, there := b.AccountContact(t, "a@example.com"); there {
		t.Error("the account still lists the old address")
	}
	bound := b.Want(t, "contacts_upsert", `{"external_id":"u3","email":"c@example.com"}`)["contact"].(map[string]any)
	if bound["external_id"] != "u3" {
		t.Errorf("an id for a known address: %v", bound)
	}
	e := b.Refusal(t, "contacts_upsert", `{"external_id":"u9","email":"b@example.com"}`, core.CodeContactExternalIDMismatch)
	if e.Extra["incumbent_external_id"] != "u2" || e.Extra["incumbent_archived"] != false {
		t.Errorf("extra = %v", e.Extra)
	}
	b.Refuse(t, "contacts_upsert", `{"external_id":"u1","email":"b@example.com"}`, core.CodeContactEmailTaken)
	b.Refuse(t, "contacts_upsert", `{"external_id":"u9"}`, core.CodeUnknownExternalID)
	b.Refuse(t, "contacts_upsert", `{}`, core.CodeValidationFailed)
	if got := b.Want(t, "contacts_archive", `{"external_id":"u2"}`); got["archived"] != true {
		t.Errorf("got %v", got)
	}
	b.Refuse(t, "contacts_archive", `{"external_id":"u2","email":"b@example.com"}`, core.CodeValidationFailed)
	b.Refuse(t, "contacts_lookup", `{"external_id":"u2","email":"b@example.com"}`, core.CodeValidationFailed)
	b.Refuse(t, "contacts_lookup", `{}`, core.CodeValidationFailed)
}

// TestANewAddressKeepsItsOptOuts checks that a contact that changes its address gets the
// opt-outs that the sending account already has for the new address.
func TestANewAddressKeepsItsOptOuts(t *testing.T) {
	t.Parallel()
	b := upserting(t)
	b.Want(t, "contacts_upsert", `{"email":"old@example.com","external_id":"u1","topic_preferences":{"offers":"OPT_IN"}}`)
	held := sending.Contact{Email: "new@example.com", UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptOut, "offers": sending.OptOut}}
	if err := b.Account.PutContact(t.Context(), b.Org.ID, held); err != nil {
		t.Fatal(err)
	}
	moved := b.Want(t, "contacts_upsert", `{"external_id":"u1","email":"new@example.com"}`)["contact"].(map[string]any)
	if moved["unsubscribe_all"] != true || contactstest.Choices(moved)["news"] != "OPT_OUT" || contactstest.Choices(moved)["offers"] != "OPT_OUT" {
		t.Errorf("an opt-out was undone: %v", moved)
	}
	back := b.Want(t, "contacts_upsert", `{"external_id":"u1","unsubscribe_all":false,"topic_preferences":{"offers":"OPT_IN"}}`)["contact"].(map[string]any)
	if back["unsubscribe_all"] != false || contactstest.Choices(back)["offers"] != "OPT_IN" {
		t.Errorf("only saying so undoes it: %v", back)
	}
}
