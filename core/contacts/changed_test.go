package contacts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// TestEveryWriteTellsWhoChanged checks that Config.OnChange is called once for every write
// that changes a contact, and not for a write that was refused or changed nothing.
func TestEveryWriteTellsWhoChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.Want(t, "contacts_create", `{"email":"ada@example.com"}`)
	ada := []string{b.Org.ID + "/" + made["id"].(string)}
	for _, step := range []struct {
		name, arguments string
		notified        []string
	}{
		// contacts_lookup changes nothing, so TakeChanged still returns the contact that
		// contacts_create above reported
		{"contacts_lookup", `{"email":"ada@example.com"}`, ada},
		{"contacts_update", `{"email":"ada@example.com","lists":{"add":["beta"]}}`, ada},
		{"contacts_replace", `{"email":"ada@example.com"}`, ada},
		{"contacts_upsert", `{"email":"ada@example.com","external_id":"1"}`, ada},
		{"contacts_upsert_by_external_id", `{"external_id":"1","unsubscribe_all":true}`, ada},
		{"contacts_set_list_membership", `{"contact":"1","remove":["beta"]}`, ada},
		{"contacts_identify", `{"external_id":"1"}`, nil},
		{"contacts_archive", `{"email":"ada@example.com"}`, ada},
		{"contacts_archive", `{"email":"ada@example.com"}`, nil},
		{"contacts_archive_by_external_id", `{"external_id":"nobody"}`, nil},
		{"contacts_upsert", `{"external_id":"1"}`, ada},
		{"contacts_archive_by_external_id", `{"external_id":"1"}`, ada},
		{"lists_update", `{"id":"beta","name":"B"}`, nil},
	} {
		b.Surface = core.REST
		if step.name == "contacts_upsert" {
			b.Surface = core.Agent
		}
		b.Want(t, step.name, step.arguments)
		if got := b.TakeChanged(); !cmp.Equal(got, step.notified) {
			t.Errorf("%s %s told of %v, want %v", step.name, step.arguments, got, step.notified)
		}
	}
	b.Refuse(t, "contacts_update", `{"email":"nobody@example.com"}`, core.CodeNotFound)
	b.Refuse(t, "contacts_create", `{"email":"new@example.com","lists":{"add":["nowhere"]}}`, core.CodeValidationFailed)
	if got := b.TakeChanged(); got != nil {
		t.Errorf("refusals told of %v", got)
	}
	b.Advance(time.Minute)
	if err := b.Account.PutContact(t.Context(), b.Org.ID, sending.Contact{Email: "stranger@example.com"}); err != nil {
		t.Fatal(err)
	}
	b.SyncLater(t)
	if got := b.TakeChanged(); len(got) != 1 || got[0] == ada[0] {
		t.Errorf("a sync told of %v", got)
	}
	b.SyncLater(t)
	if got := b.TakeChanged(); got != nil {
		t.Errorf("a sync that found nothing told of %v", got)
	}
}
