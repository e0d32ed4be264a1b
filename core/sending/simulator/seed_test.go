package simulator_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func TestSeedMakesASandboxAccount(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{})
	must(t, s.Seed(t.Context(), "org", simulator.Setup{}))
	got, err := s.Overview(t.Context(), "org")
	must(t, err)
	if len(got.AccountID) != 12 || strings.Trim(got.AccountID, "0123456789") != "" {
		t.Errorf("account id %q, want twelve digits", got.AccountID)
	}
	got.AccountID = ""
	want := sending.Overview{Region: "us-east-1", Sandbox: true, SendingEnabled: true, Max24HourSend: 200, MaxSendRate: 1}
	if got != want {
		t.Errorf("a new account is %+v, want %+v", got, want)
	}
}

// tickingClock returns a clock whose time advances by a second with every call.
func tickingClock() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func TestSeedAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{Clock: tickingClock()})
	joined := time.Date(2020, 2, 3, 4, 5, 6, 7000, time.UTC)
	dated := person(1)
	dated.UpdatedAt = joined
	setup := simulator.Setup{
		Account:           &sending.Overview{SendingEnabled: true, Max24HourSend: -1, MaxSendRate: 14},
		Identities:        []sending.Identity{{Identity: "Example.com", Verification: sending.Success}},
		ConfigurationSets: []sending.ConfigurationSet{{Name: "default", SuppressionPolicy: []string{"BOUNCE"}}},
		List:              list("news", "offers"),
		Contacts:          []sending.Contact{person(0), dated},
	}
	must(t, s.Seed(t.Context(), "org", setup))
	before := snapshot(t, s)
	if before.Max24HourSend != -1 || before.People[1].UpdatedAt != joined {
		t.Errorf("not as it was set up: %+v", before)
	}
	must(t, s.Seed(t.Context(), "org", setup))
	must(t, s.Seed(t.Context(), "org", simulator.Setup{}))
	if diff := cmp.Diff(before, snapshot(t, s)); diff != "" {
		t.Errorf("seeding again changed (-before +after):\n%s", diff)
	}
}

type account struct {
	sending.Overview
	Identities []sending.Identity
	Sets       []sending.ConfigurationSet
	List       sending.ContactList
	People     []sending.Contact
}

func snapshot(t *testing.T, s *simulator.Simulator) account {
	t.Helper()
	var a account
	var err error
	a.Overview, err = s.Overview(t.Context(), "org")
	must(t, err)
	a.Identities, err = s.Identities(t.Context(), "org")
	must(t, err)
	a.Sets, err = s.ConfigurationSets(t.Context(), "org")
	must(t, err)
	a.List, err = s.ContactList(t.Context(), "org")
	must(t, err)
	a.People, _, err = s.Contacts(t.Context(), "org", "")
	must(t, err)
	return a
}

func TestSeedKeepsWhatPeopleChose(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{})
	seed(t, s, "org", 2)
	must(t, s.PutContact(t.Context(), "org", sending.Contact{Email: person(0).Email, UnsubscribeAll: true}))
	seed(t, s, "org", 3)
	got, err := s.Contact(t.Context(), "org", person(0).Email)
	if err != nil || !got.UnsubscribeAll || len(got.Preferences) != 0 {
		t.Errorf("after seeding again the contact is %+v, %v", got, err)
	}
	_, err = s.Contact(t.Context(), "org", person(2).Email)
	must(t, err)
}

func TestSeedUpdatesTopics(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{Clock: tickingClock()})
	must(t, s.Seed(t.Context(), "org", simulator.Setup{List: list("zebra", "apple")}))
	before, err := s.ContactList(t.Context(), "org")
	must(t, err)
	change := list("apple", "mango")
	change.Topics[0].DisplayName = "Apples"
	must(t, s.Seed(t.Context(), "org", simulator.Setup{List: change}))
	after, err := s.ContactList(t.Context(), "org")
	must(t, err)
	var names []string
	for _, topic := range after.Topics {
		names = append(names, topic.Name+"="+topic.DisplayName)
	}
	if diff := cmp.Diff([]string{"zebra=zebra", "apple=Apples", "mango=mango"}, names); diff != "" {
		t.Errorf("topics (-want +got):\n%s", diff)
	}
	if !after.UpdatedAt.After(before.UpdatedAt) {
		t.Errorf("the list changed and is still dated %v", after.UpdatedAt)
	}
}

func TestSeedRefusesBadValues(t *testing.T) {
	t.Parallel()
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprint("topic-", i)
	}
	undecided := list("news")
	undecided.Topics[0].Default = "MAYBE"
	wordy := list("news")
	wordy.Topics[0].DisplayName = strings.Repeat("é", 129)
	for name, test := range map[string]struct {
		setup simulator.Setup
		kind  sending.FailureKind
	}{
		"51 topics":          {simulator.Setup{List: list(many...)}, sending.Full},
		"a topic's name":     {simulator.Setup{List: list("two words")}, sending.Invalid},
		"a topic's default":  {simulator.Setup{List: undecided}, sending.Invalid},
		"a display name":     {simulator.Setup{List: wordy}, sending.Invalid},
		"an account id":      {simulator.Setup{Account: &sending.Overview{AccountID: "12"}}, sending.Invalid},
		"an identity":        {simulator.Setup{Identities: []sending.Identity{{Identity: "example.com"}}}, sending.Invalid},
		"people, no list":    {simulator.Setup{Contacts: []sending.Contact{{Email: "a@example.com"}}}, sending.NotFound},
		"a person's address": {simulator.Setup{List: list("news"), Contacts: []sending.Contact{{Email: "a"}}}, sending.Invalid},
	} {
		s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{})
		err := s.Seed(t.Context(), "org", test.setup)
		t.Log(name, err)
		wantFailure(t, err, test.kind)
	}
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{})
	must(t, s.Seed(t.Context(), "org", simulator.Setup{List: list(many[:50]...)}))
	wantFailure(t, s.Seed(t.Context(), "org", simulator.Setup{List: list("one-more")}), sending.Full)
	if l, err := s.ContactList(t.Context(), "org"); err != nil || len(l.Topics) != 50 {
		t.Errorf("a refused 51st topic leaves %d, %v", len(l.Topics), err)
	}
}
