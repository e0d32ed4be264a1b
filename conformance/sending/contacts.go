package sending

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	port "github.com/mailhelm/mailhelm/core/sending"
)

// choices returns the preferences of a contact that has one choice.
func choices(topic string, choice port.Subscription) map[string]port.Subscription {
	return map[string]port.Subscription{topic: choice}
}

// put stores a contact in the account of the organization "org". It ends the test on an
// error.
func put(t *testing.T, a port.Account, c port.Contact) {
	t.Helper()
	if err := a.PutContact(t.Context(), "org", c); err != nil {
		t.Fatalf("putting %s: %v", c.Email, err)
	}
}

// get reads a contact from the account of the organization "org". It ends the test on an
// error.
func get(t *testing.T, a port.Account, email string) port.Contact {
	t.Helper()
	c, err := a.Contact(t.Context(), "org", email)
	if err != nil {
		t.Fatalf("reading %s: %v", email, err)
	}
	return c
}

// wantContact checks that two contacts are equal, apart from UpdatedAt. Nil preferences
// equal empty ones.
func wantContact(t *testing.T, got, want port.Contact) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(port.Contact{}, "UpdatedAt"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("contact (-want +got):\n%s", diff)
	}
}

// contactRoundTrip checks that contacts are read as they were stored, and that their times
// are in UTC. Addresses with international characters must be accepted.
func contactRoundTrip(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	for _, want := range []port.Contact{
		{Email: "plain@example.com"},
		{Email: "out@example.com", UnsubscribeAll: true},
		{Email: "one@example.com", Preferences: choices("news", port.OptOut)},
		{Email: "two@example.com", UnsubscribeAll: true, Preferences: map[string]port.Subscription{"news": port.OptIn, "offers": port.OptIn}},
		{Email: "o'brien+tag@example.com"},
		{Email: "grüße@bücher.example"},
	} {
		put(t, s.Account, want)
		got := get(t, s.Account, want.Email)
		wantContact(t, got, want)
		if got.UpdatedAt.IsZero() || got.UpdatedAt.Location() != time.UTC {
			t.Errorf("%s was updated at %v, want a time in UTC", want.Email, got.UpdatedAt)
		}
	}
	_, err := s.Account.Contact(t.Context(), "org", "absent@example.com")
	WantKind(t, "reading an address that is not on the list", err, port.NotFound)
}

// caseDoesNotMatter writes one address with different capitals. The account must have one
// contact, with the spelling of the first write.
func caseDoesNotMatter(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	put(t, s.Account, port.Contact{Email: "Ada.Lovelace@Example.com"})
	wantContact(t, get(t, s.Account, "ADA.LOVELACE@EXAMPLE.COM"), port.Contact{Email: "Ada.Lovelace@Example.com"})

	put(t, s.Account, port.Contact{Email: "ada.lovelace@example.com", UnsubscribeAll: true})
	wantContact(t, get(t, s.Account, "ada.lovelace@example.com"), port.Contact{Email: "Ada.Lovelace@Example.com", UnsubscribeAll: true})
	if all := walk(t, s.Account, "org", nil); len(all) != 1 {
		t.Errorf("two spellings of an address make %d contacts, want 1", len(all))
	}
	if err := s.Account.DeleteContact(t.Context(), "org", "ADA.lovelace@EXAMPLE.com"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Account.Contact(t.Context(), "org", "Ada.Lovelace@Example.com")
	WantKind(t, "reading a deleted contact", err, port.NotFound)
}

// putReplaces checks that a write of a contact removes the choices that it does not
// contain. The contact's UpdatedAt must not go back.
func putReplaces(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	const email = "person@example.com"
	put(t, s.Account, port.Contact{Email: email, UnsubscribeAll: true, Preferences: choices("news", port.OptOut)})
	first := get(t, s.Account, email)
	put(t, s.Account, port.Contact{Email: email, Preferences: choices("offers", port.OptIn)})
	second := get(t, s.Account, email)
	wantContact(t, second, port.Contact{Email: email, Preferences: choices("offers", port.OptIn)})
	if second.UpdatedAt.Before(first.UpdatedAt) {
		t.Errorf("the later write is dated %v, before the earlier's %v", second.UpdatedAt, first.UpdatedAt)
	}
	put(t, s.Account, port.Contact{Email: email})
	wantContact(t, get(t, s.Account, email), port.Contact{Email: email})
}

// repeatedPutChangesNothing writes a contact twice with equal consent. The second write
// must not even change UpdatedAt.
func repeatedPutChangesNothing(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	c := port.Contact{Email: "person@example.com", Preferences: map[string]port.Subscription{"news": port.OptOut, "offers": port.OptIn}}
	put(t, s.Account, c)
	before := get(t, s.Account, c.Email)
	put(t, s.Account, c)
	if diff := cmp.Diff(before, get(t, s.Account, c.Email)); diff != "" {
		t.Errorf("putting the same again changed (-before +after):\n%s", diff)
	}
}

// invalidValues writes contacts that every account must refuse with Invalid. A refused
// write must have no effect.
func invalidValues(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	const email = "person@example.com"
	put(t, s.Account, port.Contact{Email: email, Preferences: choices("news", port.OptIn)})
	for name, c := range map[string]port.Contact{
		"a topic the list does not have": {Email: email, Preferences: choices("weather", port.OptIn)},
		"a choice that is none":          {Email: email, Preferences: choices("news", "MAYBE")},
		"no choice":                      {Email: email, Preferences: choices("news", "")},
		"no address":                     {},
		"an address without a domain":    {Email: "person"},
		"an address with a line break":   {Email: "person@example.com\r\nbcc"},
		"an endless address":             {Email: strings.Repeat("x", 1000) + "@example.com"},
	} {
		WantKind(t, name, s.Account.PutContact(t.Context(), "org", c), port.Invalid)
	}
	wantContact(t, get(t, s.Account, email), port.Contact{Email: email, Preferences: choices("news", port.OptIn)})
	if all := walk(t, s.Account, "org", nil); len(all) != 1 {
		t.Errorf("refused values left %d contacts, want 1", len(all))
	}
}

// manyContacts checks the outcomes of PutContacts. An invalid contact must not affect the
// others. A repeated address or too many contacts must fail the whole call.
func manyContacts(t *testing.T, s Subject) {
	const unchanged = "person-0002@example.com"
	s.Seed(t, "org", people())
	many := contactsWithOptOuts(30)
	put(t, s.Account, many[2])
	before := get(t, s.Account, unchanged)
	many[5].Preferences = choices("weather", port.OptIn)
	many[7].Email = "person"
	many[9].Preferences = choices("news", "MAYBE")
	outcomes, err := s.Account.PutContacts(t.Context(), "org", many)
	if err != nil || len(outcomes) != len(many) {
		t.Fatalf("%d outcomes, %v", len(outcomes), err)
	}
	for i, outcome := range outcomes {
		switch i {
		case 5, 7, 9:
			if outcome == nil || outcome.Kind != port.Invalid {
				t.Errorf("contact %d is %v, want invalid", i, outcome)
			}
		default:
			if outcome != nil {
				t.Errorf("contact %d fails with %v", i, outcome)
			}
			wantContact(t, get(t, s.Account, many[i].Email), many[i])
		}
	}
	if all := walk(t, s.Account, "org", nil); len(all) != len(many)-3 {
		t.Errorf("%d contacts were put, want %d", len(all), len(many)-3)
	}
	if diff := cmp.Diff(before, get(t, s.Account, unchanged)); diff != "" {
		t.Errorf("putting the same again changed (-before +after):\n%s", diff)
	}
	if outcomes, err := s.Account.PutContacts(t.Context(), "org", nil); err != nil || len(outcomes) != 0 {
		t.Errorf("nobody has %d outcomes, %v", len(outcomes), err)
	}
	for name, bad := range map[string][]port.Contact{
		"one address twice": {{Email: "twice@example.com"}, {Email: "Twice@example.com"}}, "too many": contactsWithOptOuts(port.MaxContacts + 1),
	} {
		_, err := s.Account.PutContacts(t.Context(), "org", bad)
		WantKind(t, name, err, port.Invalid)
	}
	_, err = s.Account.Contact(t.Context(), "org", "twice@example.com")
	WantKind(t, "reading what was put twice at once", err, port.NotFound)
}

// deleteIsRepeatable deletes a contact twice and stores it again. Another contact must not
// be deleted.
func deleteIsRepeatable(t *testing.T, s Subject) {
	const email = "person@example.com"
	s.Seed(t, "org", people(port.Contact{Email: email}, port.Contact{Email: "other@example.com"}))
	for range 2 {
		if err := s.Account.DeleteContact(t.Context(), "org", email); err != nil {
			t.Fatal(err)
		}
		_, err := s.Account.Contact(t.Context(), "org", email)
		WantKind(t, "reading a deleted contact", err, port.NotFound)
	}
	get(t, s.Account, "other@example.com")
	put(t, s.Account, port.Contact{Email: email, UnsubscribeAll: true})
	wantContact(t, get(t, s.Account, email), port.Contact{Email: email, UnsubscribeAll: true})
}
