package simulator_test

import (
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func open(t testing.TB, path string, opts simulator.Options) *simulator.Simulator {
	t.Helper()
	s, err := simulator.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func person(i int) sending.Contact {
	return sending.Contact{
		Email:       fmt.Sprintf("person-%d@example.com", i),
		Preferences: map[string]sending.Subscription{"news": sending.OptIn, "offers": sending.OptOut},
	}
}

func list(topics ...string) *sending.ContactList {
	l := &sending.ContactList{Name: "people"}
	for _, name := range topics {
		l.Topics = append(l.Topics, sending.Topic{Name: name, DisplayName: name, Default: sending.OptOut})
	}
	return l
}

// seed gives an organization an account with two topics and n contacts.
func seed(t testing.TB, s *simulator.Simulator, orgID string, n int) {
	t.Helper()
	people := make([]sending.Contact, n)
	for i := range people {
		people[i] = person(i)
	}
	if err := s.Seed(t.Context(), orgID, simulator.Setup{List: list("news", "offers"), Contacts: people}); err != nil {
		t.Fatal(err)
	}
}
