package sending

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	port "github.com/mailhelm/mailhelm/core/sending"
)

// kindOf returns the kind of an adapter's error: "" for nil, and "untyped" for an error
// that is not a *port.Failure.
func kindOf(err error) port.FailureKind {
	if err == nil {
		return ""
	}
	if f, ok := errors.AsType[*port.Failure](err); ok {
		return f.Kind
	}
	return "untyped"
}

// accountIsRead checks that reads of an account return the values with which the test set
// it up. It ignores DKIM tokens and the order of lists.
func accountIsRead(t *testing.T, s Subject) {
	want := Setup{
		Overview: port.Overview{
			AccountID: "444455556666", Region: "eu-central-1", Sandbox: true, SendingEnabled: true,
			Max24HourSend: 50_000, MaxSendRate: 14, SentLast24Hours: 321,
		},
		Identities: []port.Identity{
			{Identity: "ada@example.com", Verification: port.Success, ConfigurationSet: "marketing"},
			{Identity: "example.com", Verification: port.Success, ConfigurationSet: "transactional"},
			{Identity: "new.example.com", Verification: port.Pending},
			{Identity: "old.example.com", Verification: port.Failed},
		},
		ConfigurationSets: []port.ConfigurationSet{
			{Name: "marketing", TrackingDomain: "click.example.com", SuppressionPolicy: []string{"BOUNCE", "COMPLAINT"}},
			{Name: "transactional", SuppressionPolicy: []string{"BOUNCE"}},
			{Name: "unguarded"},
		},
		List: people().List,
	}
	s.Seed(t, "org", want)

	var got Setup
	var list port.ContactList
	var err error
	for _, read := range []func(){
		func() { got.Overview, err = s.Account.Overview(t.Context(), "org") },
		func() { got.Identities, err = s.Account.Identities(t.Context(), "org") },
		func() { got.ConfigurationSets, err = s.Account.ConfigurationSets(t.Context(), "org") },
		func() { list, err = s.Account.ContactList(t.Context(), "org") },
	} {
		if read(); err != nil {
			t.Fatal(err)
		}
	}
	got.List = &list
	if list.UpdatedAt.IsZero() || list.UpdatedAt.Location() != time.UTC {
		t.Errorf("the list was updated at %v, want a time in UTC", list.UpdatedAt)
	}
	anyOrder := []cmp.Option{
		cmpopts.SortSlices(func(a, b port.Identity) bool { return a.Identity < b.Identity }),
		cmpopts.SortSlices(func(a, b port.ConfigurationSet) bool { return a.Name < b.Name }),
		cmpopts.IgnoreFields(port.ContactList{}, "UpdatedAt"), cmpopts.IgnoreFields(port.Identity{}, "DKIMTokens"), cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(want, got, anyOrder...); diff != "" {
		t.Errorf("the account (-set up +read):\n%s", diff)
	}
}

// noAccountIsNotConnected calls every method for an organization without an account. Each
// call must fail with NotConnected.
func noAccountIsNotConnected(t *testing.T, s Subject) {
	for name, call := range Calls(t, s.Account, "nobody") {
		WantKind(t, name, call(t.Context()), port.NotConnected)
	}
}

// noListNoContacts calls the methods of an account without a contact list. Methods that
// need the list must fail with NotFound; reads of the account must succeed.
func noListNoContacts(t *testing.T, s Subject) {
	setup := people()
	setup.List = nil
	s.Seed(t, "org", setup)
	all := Calls(t, s.Account, "org")
	for _, name := range []string{"ContactList", "ChangeTopics", "Contact", "Contacts", "PutContact", "PutContacts"} {
		WantKind(t, name, all[name](t.Context()), port.NotFound)
	}
	for _, name := range []string{"Overview", "Identities", "ConfigurationSets", "DeleteContact"} {
		WantKind(t, name, all[name](t.Context()), "")
	}
}

// listIsMadeOnce calls EnsureContactList many times at once, and again when the list
// exists. The account must have one list.
func listIsMadeOnce(t *testing.T, s Subject) {
	setup := people()
	setup.List = nil
	s.Seed(t, "org", setup)
	var askers sync.WaitGroup
	for range 8 {
		askers.Go(func() { WantKind(t, "EnsureContactList", s.Account.EnsureContactList(t.Context(), "org"), "") })
	}
	askers.Wait()
	if list := readList(t, s.Account); list.Name != port.DefaultContactList || len(list.Topics) != 0 {
		t.Errorf("the list is %+v", list)
	}
	put(t, s.Account, port.Contact{Email: "first@example.com"})
	changeTopics(t, s.Account, addTopic("weather"))
	before := readList(t, s.Account)
	WantKind(t, "EnsureContactList", s.Account.EnsureContactList(t.Context(), "org"), "")
	if diff := cmp.Diff(before, readList(t, s.Account)); diff != "" {
		t.Errorf("a list that was there has changed (-before +after):\n%s", diff)
	}
	s.Seed(t, "other", people())
	WantKind(t, "EnsureContactList", s.Account.EnsureContactList(t.Context(), "other"), "")
	if list, err := s.Account.ContactList(t.Context(), "other"); err != nil || list.Name != "people" {
		t.Errorf("a list of another name has become %+v, %v", list, err)
	}
}

// organizationsAreApart checks with the same address in two organizations that no read or
// write of one organization affects the other.
func organizationsAreApart(t *testing.T, s Subject) {
	const shared = "shared@example.com"
	s.Seed(t, "ours", people(port.Contact{Email: shared}, port.Contact{Email: "ours@example.com"}))
	theirs := people(port.Contact{Email: shared, UnsubscribeAll: true}, port.Contact{Email: "theirs@example.com"})
	theirs.List.Topics = append(theirs.List.Topics, port.Topic{Name: "theirs", Default: port.OptIn})
	theirs.Overview.AccountID = "999988887777"
	s.Seed(t, "theirs", theirs)

	if o, err := s.Account.Overview(t.Context(), "ours"); err != nil || o.AccountID == theirs.Overview.AccountID {
		t.Errorf("our overview is %+v, %v", o, err)
	}
	if l, err := s.Account.ContactList(t.Context(), "ours"); err != nil || len(l.Topics) != 2 {
		t.Errorf("our topics are %+v, %v", l.Topics, err)
	}
	_, err := s.Account.Contact(t.Context(), "ours", "theirs@example.com")
	WantKind(t, "reading their contact", err, port.NotFound)
	err = s.Account.PutContact(t.Context(), "ours", port.Contact{Email: shared, Preferences: choices("theirs", port.OptIn)})
	WantKind(t, "choosing their topic", err, port.Invalid)
	if err := s.Account.DeleteContact(t.Context(), "ours", "theirs@example.com"); err != nil {
		t.Error(err)
	}
	if err := s.Account.DeleteContact(t.Context(), "ours", shared); err != nil {
		t.Error(err)
	}
	if got := addresses(walk(t, s.Account, "theirs", nil)); !slices.Equal(got, []string{shared, "theirs@example.com"}) {
		t.Errorf("after our deletes, they have %v", got)
	}
	if got := addresses(walk(t, s.Account, "ours", nil)); !slices.Equal(got, []string{"ours@example.com"}) {
		t.Errorf("after our deletes, we have %v", got)
	}
}
