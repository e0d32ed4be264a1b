package contacts_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// claims upserts one external id many times concurrently, with seven addresses, through the
// given processes. It returns the number of calls by error code; the code "" is success.
// Exactly one call must have created the contact.
func claims(t *testing.T, many int, through ...*contactstest.World) map[core.Code]int {
	t.Helper()
	var mu sync.Mutex
	outcomes, created := map[core.Code]int{}, 0
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			<-start
			arguments := fmt.Sprintf(`{"external_id":"one","email":"p%d@example.com","attributes":{"age":%d}}`, i%7, i)
			out, err := through[i%len(through)].Run(context.WithoutCancel(t.Context()), "contacts_upsert_by_external_id", arguments)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				outcomes[err.Code]++
				return
			}
			outcomes[""]++
			if out.(contacts.ContactWritten).WasCreated() {
				created++
			}
		})
	}
	close(start)
	wg.Wait()
	if created != 1 {
		t.Errorf("%d calls say that they made the contact", created)
	}
	return outcomes
}

func TestAThousandClaimsOfOneExternalID(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		many := enginetest.Share(1000)
		if got := claims(t, many, b.World); got[""] != many {
			t.Errorf("outcomes %v", got)
		}
		c, err := db.Contacts().ContactByExternalID(t.Context(), b.Org.ID, "one")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := db.ContactCount().CountContacts(t.Context(), b.Org.ID); err != nil || n != 1 {
			t.Errorf("%d contacts, %v", n, err)
		}
		page, _, err := b.Account.Contacts(t.Context(), b.Org.ID, "")
		if err != nil || len(page) != 1 || page[0].Email != c.Email {
			t.Errorf("the account has %v, the mirror %s, %v", page, c.Email, err)
		}
	})
}

// TestClaimsOfTwoProcesses checks concurrent upserts of one external id by two processes,
// which share no locks. Exactly one contact exists afterwards, and failed calls have one of
// the errors for a taken address or external id.
func TestClaimsOfTwoProcesses(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		one := setupOn(t, db)
		two := one.OtherProcess()
		outcomes := claims(t, 100, one.World, two)
		named := []core.Code{"", core.CodeContactClaimRace, core.CodeContactEmailTaken, core.CodeContactExternalIDMismatch}
		for code, times := range outcomes {
			if !slices.Contains(named, code) {
				t.Errorf("%d times %s", times, code)
			}
		}
		if n, err := db.ContactCount().CountContacts(t.Context(), one.Org.ID); err != nil || n != 1 {
			t.Errorf("%d contacts, %v; outcomes %v", n, err, outcomes)
		}
	})
}

// TestIdentifyingAtOnce checks many concurrent calls that identify the same new visitor.
// One call creates the contact, and all return the same visitor id.
func TestIdentifyingAtOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		var mu sync.Mutex
		ids, created := map[string]int{}, 0
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				out, err := b.Run(context.WithoutCancel(t.Context()), "contacts_identify", `{"email":"ada@example.com","external_id":"1"}`)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				found := out.(contacts.Identified)
				ids[found.VisitorID]++
				if found.Result == "created" {
					created++
				}
			})
		}
		wg.Wait()
		if len(ids) != 1 || created != 1 || len(b.Activities()) != 1 {
			t.Errorf("%d ids, created %d times, recorded %v", len(ids), created, b.Activities())
		}
	})
}
