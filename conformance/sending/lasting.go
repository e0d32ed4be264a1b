package sending

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	port "github.com/mailhelm/mailhelm/core/sending"
)

// concurrentWriters runs writers and readers at the same time. Each writer writes a contact
// of its own and a contact that all writers share.
func concurrentWriters(t *testing.T, s Subject) {
	const writers, rounds = 8, 20
	const shared = "shared@example.com"
	s.Seed(t, "org", people(port.Contact{Email: shared}))
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for r := range rounds {
				for _, email := range []string{fmt.Sprintf("writer-%d-%d@example.com", w, r), shared} {
					c := port.Contact{Email: email, UnsubscribeAll: w%2 == 0, Preferences: choices("news", port.OptOut)}
					if err := s.Account.PutContact(t.Context(), "org", c); err != nil {
						t.Errorf("putting %s: %v", email, err)
					}
				}
			}
		})
		wg.Go(func() {
			for range rounds {
				if _, err := s.Account.Contact(t.Context(), "org", shared); err != nil {
					t.Errorf("reading %s: %v", shared, err)
				}
				if _, _, err := s.Account.Contacts(t.Context(), "org", ""); err != nil {
					t.Errorf("reading a page: %v", err)
				}
			}
		})
	}
	wg.Wait()
	all := walk(t, s.Account, "org", nil)
	if len(all) != writers*rounds+1 {
		t.Errorf("%d contacts after all writers, want %d", len(all), writers*rounds+1)
	}
	for _, c := range all {
		if cmp.Diff(choices("news", port.OptOut), c.Preferences) != "" {
			t.Errorf("%s has the choices %v", c.Email, c.Preferences)
		}
	}
}

// restartFindsEverything checks that an account has the same content after Subject.Restart.
func restartFindsEverything(t *testing.T, s Subject) {
	setup := people(contactsWithOptOuts(10)...)
	setup.Identities = []port.Identity{{Identity: "example.com", Verification: port.Success}}
	setup.ConfigurationSets = []port.ConfigurationSet{{Name: "default", SuppressionPolicy: []string{"BOUNCE"}}}
	s.Seed(t, "org", setup)
	put(t, s.Account, port.Contact{Email: "Late@example.com", UnsubscribeAll: true, Preferences: choices("offers", port.OptIn)})
	if err := s.Account.DeleteContact(t.Context(), "org", setup.Contacts[3].Email); err != nil {
		t.Fatal(err)
	}
	before := readAccount(t, s.Account)
	if diff := cmp.Diff(before, readAccount(t, s.Restart(t))); diff != "" {
		t.Errorf("the account changed over a restart (-before +after):\n%s", diff)
	}
}

// readAccount reads the whole account of the organization "org", except templates and
// suppressed addresses.
func readAccount(t *testing.T, a port.Account) Setup {
	t.Helper()
	overview, err := a.Overview(t.Context(), "org")
	if err != nil {
		t.Fatal(err)
	}
	identities, err := a.Identities(t.Context(), "org")
	if err != nil {
		t.Fatal(err)
	}
	sets, err := a.ConfigurationSets(t.Context(), "org")
	if err != nil {
		t.Fatal(err)
	}
	list, err := a.ContactList(t.Context(), "org")
	if err != nil {
		t.Fatal(err)
	}
	return Setup{Overview: overview, Identities: identities, ConfigurationSets: sets, List: &list, Contacts: walk(t, a, "org", nil)}
}
