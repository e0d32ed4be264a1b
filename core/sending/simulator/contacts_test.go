package simulator_test

import (
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func TestPutContacts(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{Clock: tickingClock()})
	seed(t, s, "org", 3)
	before, err := s.Contact(t.Context(), "org", person(1).Email)
	must(t, err)

	people := make([]sending.Contact, sending.MaxContacts)
	for i := range people {
		people[i] = person(i)
	}
	people[0].UnsubscribeAll = true
	_, err = s.PutContacts(t.Context(), "org", people)
	must(t, err)
	if c, err := s.Contact(t.Context(), "org", person(0).Email); err != nil || !c.UnsubscribeAll {
		t.Errorf("a changed contact is %+v, %v", c, err)
	}
	if c, err := s.Contact(t.Context(), "org", person(1).Email); err != nil || c.UpdatedAt != before.UpdatedAt {
		t.Errorf("an unchanged contact is dated %v, before %v; %v", c.UpdatedAt, before.UpdatedAt, err)
	}
	_, err = s.Contact(t.Context(), "org", person(999).Email)
	must(t, err)
}

func TestPageSize(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{PageSize: 2})
	seed(t, s, "org", 5)
	var sizes []int
	token := ""
	for {
		page, next, err := s.Contacts(t.Context(), "org", token)
		must(t, err)
		sizes = append(sizes, len(page))
		if token = next; token == "" {
			break
		}
	}
	if len(sizes) != 3 || sizes[0] != 2 || sizes[1] != 2 || sizes[2] != 1 {
		t.Errorf("pages of %v, want 2, 2, 1", sizes)
	}
}

// TestIDsOfDeletedContactsAreNotReused checks that ids of deleted contacts are not
// reused. After the newest contacts are deleted between two pages, a new contact must
// appear on the second page.
func TestIDsOfDeletedContactsAreNotReused(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{PageSize: 2})
	seed(t, s, "org", 3)
	_, token, err := s.Contacts(t.Context(), "org", "")
	must(t, err)
	for _, i := range []int{2, 1} {
		must(t, s.DeleteContact(t.Context(), "org", person(i).Email))
	}
	must(t, s.PutContact(t.Context(), "org", person(9)))
	page, _, err := s.Contacts(t.Context(), "org", token)
	if err != nil || len(page) != 1 || page[0].Email != person(9).Email {
		t.Errorf("the page behind holds %v, %v", page, err)
	}
}
