package sending

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	port "github.com/mailhelm/mailhelm/core/sending"
)

const (
	// maxPage is the maximum number of contacts that an account may return on a page.
	maxPage  = 1000
	maxPages = 100 // maximum number of pages that walk reads; the test fails if page tokens never end
)

// walk reads all pages of an organization's contacts and returns the contacts. If the
// function between is not nil, walk calls it between two pages.
func walk(t *testing.T, a port.Account, orgID string, between func(page int)) []port.Contact {
	t.Helper()
	var all []port.Contact
	token := ""
	for page := range maxPages {
		contacts, next, err := a.Contacts(t.Context(), orgID, token)
		if err != nil {
			t.Fatalf("reading page %d: %v", page, err)
		}
		if len(contacts) > maxPage {
			t.Fatalf("page %d has %d contacts, more than %d", page, len(contacts), maxPage)
		}
		all = append(all, contacts...)
		if next == "" {
			return all
		}
		if between != nil {
			between(page)
		}
		token = next
	}
	t.Fatalf("no end after %d pages", maxPages)
	return nil
}

// addresses returns the sorted addresses of the contacts.
func addresses(contacts []port.Contact) []string {
	emails := make([]string, len(contacts))
	for i, c := range contacts {
		emails[i] = c.Email
	}
	slices.Sort(emails)
	return emails
}

// contactsWithOptOuts returns n contacts, sorted by address. Every seventh has the global
// opt-out, and every second has opted out of the topic "news".
func contactsWithOptOuts(n int) []port.Contact {
	contacts := make([]port.Contact, n)
	for i := range contacts {
		contacts[i] = port.Contact{Email: fmt.Sprintf("person-%04d@example.com", i), UnsubscribeAll: i%7 == 0}
		if i%2 == 0 {
			contacts[i].Preferences = choices("news", port.OptOut)
		}
	}
	return contacts
}

// pagesHoldEveryContactOnce reads all pages of lists with about as many contacts as fit on
// one or two pages. Each contact must be read once, in any order.
func pagesHoldEveryContactOnce(t *testing.T, s Subject) {
	for _, n := range []int{0, 1, maxPage, maxPage + 1, 2*maxPage + 345} {
		org := fmt.Sprint("org-", n)
		want := contactsWithOptOuts(n)
		s.Seed(t, org, people(want...))
		got := walk(t, s.Account, org, nil)
		if !slices.Equal(addresses(got), addresses(want)) {
			t.Errorf("%d contacts come back as %d, or not the same", n, len(got))
			continue
		}
		slices.SortFunc(got, func(a, b port.Contact) int { return strings.Compare(a.Email, b.Email) })
		for i := range got {
			wantContact(t, got[i], want[i])
		}
	}
}

// pagesSurviveChanges reads all pages of contacts. After each page it adds and deletes
// contacts on earlier and later pages. A contact that exists from the first read to the
// last must be read exactly once, and no contact twice.
func pagesSurviveChanges(t *testing.T, s Subject) {
	const n = 3*maxPage + 500
	all := contactsWithOptOuts(n)
	s.Seed(t, "org", people(all...))
	deleted := map[string]bool{}
	got := walk(t, s.Account, "org", func(page int) {
		for i := page; i < n; i += 97 {
			deleted[all[i].Email] = true
			if err := s.Account.DeleteContact(t.Context(), "org", all[i].Email); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 20 {
			put(t, s.Account, port.Contact{Email: fmt.Sprintf("person-%04d-late-%d@example.com", i*n/20, page)})
		}
	})
	times := map[string]int{}
	for _, c := range got {
		times[c.Email]++
		if times[c.Email] > 1 {
			t.Errorf("%s was read %d times", c.Email, times[c.Email])
		}
	}
	for _, c := range all {
		if !deleted[c.Email] && times[c.Email] != 1 {
			t.Errorf("%s was there all the while and was read %d times", c.Email, times[c.Email])
		}
	}
}

// badTokens reads contacts with page tokens that the account did not issue. Each read must
// fail with Invalid.
func badTokens(t *testing.T, s Subject) {
	s.Seed(t, "org", people(contactsWithOptOuts(maxPage+1)...))
	s.Seed(t, "other", people(contactsWithOptOuts(maxPage+1)...))
	_, token, err := s.Account.Contacts(t.Context(), "other", "")
	if err != nil || token == "" {
		t.Fatalf("token %q, %v", token, err)
	}
	for _, bad := range []string{"x", "0", "AAAA", token[1:], token + "A", token + "\n", "\x00", "'; --"} {
		_, _, err := s.Account.Contacts(t.Context(), "org", bad)
		WantKind(t, fmt.Sprintf("token %q", bad), err, port.Invalid)
	}
	// An account may accept or refuse a page token of another organization. This test does
	// not check whose contacts it returns, because both organizations have the same
	// addresses.
	if _, _, err := s.Account.Contacts(t.Context(), "org", token); err != nil {
		WantKind(t, "a token of another organization", err, port.Invalid)
	}
}
