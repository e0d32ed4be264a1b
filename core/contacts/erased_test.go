package contacts_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestErasedDuringAWrite erases a person between the two steps of a write, as another process can. The write must not
// bring the contact back, and the account must not have the address after it.
func TestErasedDuringAWrite(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, operation := range []string{"contacts_update", "contacts_upsert", "contacts_replace"} {
			b := setupOn(t, db)
			if operation == "contacts_upsert" {
				b.Surface = core.Agent
			}
			b.Want(t, "contacts_create", `{"email":"ann@example.com"}`)
			_, err := b.race(t, operation, `{"email":"ann@example.com","unsubscribe_all":true}`, func() {
				b.erase(t, "ann@example.com")
			})
			if err == nil || err.Code != core.CodeValidationFailed {
				t.Errorf("%s: %v, want a refusal of the address", operation, err)
			}
			if stored, account := b.storedOptOuts(t); len(stored)+len(account) > 0 {
				t.Errorf("%s: stored %v, at the account %v", operation, stored, account)
			}
		}
	})
}

// TestErasedDuringAChoice erases a person after the account has accepted the person's opt-out, before it is stored.
func TestErasedDuringAChoice(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		id := b.Want(t, "contacts_create", `{"email":"ann@example.com"}`)["id"].(string)
		yes := true
		_, err := b.Contacts.RecordChoice(t.Context(), erasing{b.DB, func() { b.erase(t, "ann@example.com") }}, b.Org.ID, contacts.RecipientChoice{
			ContactID: id, Statement: consent.Statement{UnsubscribeAll: &yes},
		})
		if !core.IsNotFound(err) {
			t.Errorf("the choice of an erased person: %v", err)
		}
		if held, there := b.AccountContact(t, "ann@example.com"); there {
			t.Errorf("the account has %+v", held)
		}
	})
}

// erasing is a transactor that calls erase before a transaction.
type erasing struct {
	core.Transactor
	erase func()
}

func (e erasing) InTx(ctx context.Context, f func(context.Context) error) error {
	e.erase()
	return e.Transactor.InTx(ctx, f)
}

// erase does what an erasure does in the database with the contact of an address, whose mail is then refused.
func (b bundle) erase(t *testing.T, email string) {
	t.Helper()
	b.Contacts.ErasedAddresses = func(_ context.Context, _ string, emails []string) (map[string]bool, error) {
		erased := map[string]bool{}
		for _, e := range emails {
			erased[e] = contacts.EmailKey(e) == email
		}
		return erased, nil
	}
	if _, err := b.DB.Writer().ExecContext(t.Context(), `DELETE FROM contacts WHERE org_id = '`+b.Org.ID+`'`); err != nil {
		t.Fatal(err)
	}
	// The account has the address: what the write sends reaches the account after the erasure.
	if _, there := b.AccountContact(t, email); !there {
		t.Errorf("the write has not told the account of %s", email)
	}
}
