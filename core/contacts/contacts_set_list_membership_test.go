package contacts_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestSetListMembership(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Surface = core.Agent
	const set = "contacts_set_list_membership"
	made := b.Want(t, "contacts_upsert", `{"email":"ada@example.com","external_id":"crm@1"}`)["contact"].(map[string]any)
	b.TakeChanged()
	for _, step := range []struct {
		arguments string
		want      []string
	}{
		{`{"contact":"ADA@example.com","add":["beta"]}`, []string{"beta"}},
		{`{"contact":"crm@1","add":["customers","beta"]}`, []string{"beta", "customers"}},
		{`{"contact":"` + made["id"].(string) + `","add":[],"remove":["beta"]}`, []string{"customers"}},
		{`{"contact":"crm@1","remove":["beta","customers"]}`, nil},
	} {
		if got := contactstest.ListKeys(b.Want(t, set, step.arguments)); !cmp.Equal(got, step.want) {
			t.Errorf("%s: on %v, want %v", step.arguments, got, step.want)
		}
	}
	if got := b.TakeChanged(); len(got) != 4 {
		t.Errorf("told of %v", got)
	}
	b.Refuse(t, set, `{"contact":"crm@1"}`, core.CodeValidationFailed)
	b.Refuse(t, set, `{"contact":"crm@1","add":["nowhere"]}`, core.CodeValidationFailed)
	b.Refuse(t, set, `{"contact":"crm@1","add":["beta"],"remove":["beta"]}`, core.CodeValidationFailed)
	b.Refuse(t, set, `{"contact":"nobody@example.com","add":["beta"]}`, core.CodeNotFound)
	b.Refuse(t, set, `{"contact":"`+core.NewID()+`","add":["beta"]}`, core.CodeNotFound)
	b.Want(t, "contacts_archive", `{"email":"ada@example.com"}`)
	b.Refuse(t, set, `{"contact":"crm@1","add":["beta"]}`, core.CodeConflict)
}

// TestAShellOnAListIsAContact checks a contact that a sync created and that then joined a
// list. A write that would give the contact's address to another contact must be refused.
func TestAShellOnAListIsAContact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.Account.PutContact(t.Context(), b.Org.ID, sending.Contact{Email: "shell@example.com"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sync.Run(t.Context(), b.Org.ID); err != nil {
		t.Fatal(err)
	}
	b.Want(t, "contacts_upsert_by_external_id", `{"external_id":"1","email":"one@example.com"}`)
	b.Want(t, "contacts_set_list_membership", `{"contact":"shell@example.com","add":["beta"]}`)
	b.Refuse(t, "contacts_upsert_by_external_id", `{"external_id":"1","email":"shell@example.com"}`, core.CodeContactEmailTaken)
}

// TestMembershipRaces adds, removes and sets memberships concurrently. It checks that each
// edit applies as a whole, so that replaying the membership log leads to the contact's
// final lists.
func TestMembershipRaces(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		made := b.Want(t, "contacts_create", `{"email":"ada@example.com"}`)
		edits := []struct{ name, arguments string }{
			{"contacts_set_list_membership", `{"contact":"ada@example.com","add":["beta"]}`},
			{"contacts_set_list_membership", `{"contact":"ada@example.com","remove":["beta"]}`},
			{"contacts_set_list_membership", `{"contact":"` + made["id"].(string) + `","add":["customers"],"remove":["beta"]}`},
			{"contacts_update", `{"email":"ada@example.com","lists":{"set":["beta"]}}`},
			{"contacts_update", `{"email":"ada@example.com","lists":{"add":["customers"]}}`},
			{"contacts_replace", `{"email":"ada@example.com","lists":[]}`},
		}
		var wg sync.WaitGroup
		failures := make(chan error, 10*len(edits))
		for i := range 10 * len(edits) {
			wg.Go(func() {
				edit := edits[i%len(edits)]
				if _, err := b.Run(context.WithoutCancel(t.Context()), edit.name, edit.arguments); err != nil {
					failures <- fmt.Errorf("%s: %w", edit.name, err)
				}
			})
		}
		wg.Wait()
		close(failures)
		for err := range failures {
			t.Error(err)
		}
		log, err := db.ListMembers().MembershipLog(t.Context(), b.Org.ID, nil, 1000)
		if err != nil {
			t.Fatal(err)
		}
		entered := map[string]int{}
		for _, line := range log {
			if line.Entered {
				entered[line.SetID]++
			} else {
				entered[line.SetID]--
			}
		}
		on, err := db.ListMembers().ContactLists(t.Context(), b.Org.ID, made["id"].(string))
		if err != nil {
			t.Fatal(err)
		}
		for id, times := range entered {
			isOn := slices.ContainsFunc(on, func(l lists.Ref) bool { return l.ID == id })
			if times != 0 && times != 1 || (times == 1) != isOn {
				t.Errorf("list %s was entered %d times more than left; on it: %t", id, times, isOn)
			}
		}
	})
}

// TestAListJoinedMeanwhileStays changes the lists of a contact while another call, which has added a
// list, has not committed yet. The change waits for it, and must not undo it.
func TestAListJoinedMeanwhileStays(t *testing.T) {
	t.Parallel()
	b := setupOn(t, storagetest.Postgres(t)) // SQLite has one writer at a time
	made := b.Want(t, "contacts_create", `{"email":"ada@example.com"}`)
	id := made["id"].(string)
	beta, err := b.DB.Lists().ListsByRef(t.Context(), b.Org.ID, []string{"beta"})
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan *core.Error, 1)
	err = b.DB.InTx(t.Context(), func(ctx context.Context) error {
		if _, err := b.DB.Contacts().ContactByID(ctx, b.Org.ID, id); err != nil { // locks it
			return err
		}
		if _, _, err := b.DB.ListMembers().ReplaceMembership(ctx, b.Org.ID, id, []string{beta[0].ID}, b.Clock()); err != nil {
			return err
		}
		go func() {
			_, err := b.Run(t.Context(), "contacts_set_list_membership", `{"contact":"ada@example.com","add":["customers"]}`)
			second <- err
		}()
		for waiting := 0; waiting == 0; {
			if err := b.DB.Reader().QueryRowContext(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waiting); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if got := contactstest.ListKeys(b.Want(t, "contacts_lookup", `{"email":"ada@example.com"}`)); !cmp.Equal(got, []string{"beta", "customers"}) {
		t.Errorf("on %v", got)
	}
}
