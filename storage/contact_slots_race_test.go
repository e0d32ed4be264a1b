package storage_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestWritesRaceAChangingRegistry writes contacts while their attribute is renamed and
// changes its type, and while a pass rewrites contacts. There must be no deadlock. In the
// end each contact must have its last value under the last name, in its record and in
// contact_slots.
func TestWritesRaceAChangingRegistry(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const writers, rounds = 4, 25
		store, org := db.Contacts(), core.NewID()
		a := attributes.Attribute{ID: core.NewID(), Name: "a0", Type: attributes.String, CreatedAt: time.Unix(1, 0)}
		fatal(t, db.Attributes().InsertAttribute(t.Context(), org, a))
		for w := range writers {
			fatal(t, store.InsertContact(t.Context(), org, contacts.Contact{
				ID: core.NewID(), Email: fmt.Sprintf("c%d@x", w), Status: contacts.Active, Attributes: map[string]any{"a0": "0"},
			}))
		}
		var running sync.WaitGroup
		for w := range writers {
			running.Go(func() { writeOverAndOver(t, db, org, a.ID, fmt.Sprintf("c%d@x", w), rounds) })
		}
		running.Go(func() {
			for i := range rounds {
				renamed := a
				renamed.Name, renamed.Type = "a"+strconv.Itoa(i%3), []attributes.Type{attributes.String, attributes.Number}[i%2]
				if err := db.Attributes().UpdateAttribute(t.Context(), org, renamed); err != nil {
					t.Errorf("change %d: %v", i, err)
				}
				if _, err := db.AttributePasses().Pass(t.Context(), org, 2); err != nil {
					t.Errorf("pass: %v", err)
				}
			}
		})
		running.Wait()
		passUntilDone(t, db.AttributePasses(), org)

		last, err := db.Attributes().Attribute(t.Context(), org, a.ID)
		fatal(t, err)
		for w := range writers {
			c, err := store.ContactByEmail(t.Context(), org, fmt.Sprintf("c%d@x", w))
			fatal(t, err)
			value, fits := last.Settle(strconv.Itoa(rounds))
			if len(c.Attributes) != 1 || !fits || c.Attributes[last.Name] != value {
				t.Errorf("%s has %v, want %v as %s", c.Email, c.Attributes, value, last.Name)
			}
			var slot any
			fatal(t, db.Writer().QueryRowContext(t.Context(), `SELECT `+last.Slot+` FROM contact_slots WHERE org_id = $1 AND contact_id = $2`, org, c.ID).Scan(&slot))
			if b, is := slot.([]byte); is {
				slot = string(b)
			}
			if slot != value {
				t.Errorf("slot %s of %s has %v, want %v", last.Slot, c.Email, slot, value)
			}
		}
	})
}

// writeOverAndOver writes every number from 1 to the parameter rounds to an attribute of
// the contact. Each write uses the name that the attribute has at that moment.
func writeOverAndOver(t *testing.T, db *storage.DB, org, attribute, email string, rounds int) {
	t.Helper()
	store := db.Contacts()
	for i := 1; i <= rounds; i++ {
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			c, err := store.ContactByEmail(ctx, org, email)
			if err != nil {
				return err
			}
			now, err := db.Attributes().Attribute(ctx, org, attribute)
			if err != nil {
				return err
			}
			for name, value := range c.Attributes {
				if name != now.Name || fmt.Sprint(value) != strconv.Itoa(i-1) {
					t.Errorf("%s has %s = %v before write %d under %s", email, name, value, i, now.Name)
				}
			}
			c.Attributes[now.Name] = strconv.Itoa(i)
			return store.UpdateContact(ctx, org, c)
		})
		if err != nil {
			t.Errorf("write %d of %s: %v", i, email, err)
		}
	}
}

func passUntilDone(t *testing.T, store attributes.PassStore, org string) {
	t.Helper()
	for {
		passed, err := store.Pass(t.Context(), org, 2)
		fatal(t, err)
		if passed.Done {
			return
		}
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
