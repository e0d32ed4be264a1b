package sending

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	port "github.com/mailhelm/mailhelm/core/sending"
)

// listed is the time at which the first address of a test was added to the suppression
// list. It has whole seconds, because providers have no higher precision.
var listed = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

// suppressedEntry returns an entry of the suppression list. Its time of addition is the
// variable listed plus the given number of minutes.
func suppressedEntry(email string, reason port.SuppressionReason, minutes int) port.Suppressed {
	return port.Suppressed{Email: email, Reason: reason, At: listed.Add(time.Duration(minutes) * time.Minute)}
}

// suppressionIsRead checks that a lookup of one suppressed address and a page of the
// suppression list return the same entry. An address that only another organization
// suppressed must give NotFound.
func suppressionIsRead(t *testing.T, s Subject) {
	setup := people()
	setup.Suppressed = []port.Suppressed{
		suppressedEntry("bounced@example.com", port.SuppressedByBounce, 0), suppressedEntry("complained+x@example.com", port.SuppressedByComplaint, 1),
	}
	s.Seed(t, "org", setup)
	s.Seed(t, "other", people())
	for _, want := range setup.Suppressed {
		got, err := s.Account.FindSuppressed(t.Context(), "org", want.Email)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		_, err = s.Account.FindSuppressed(t.Context(), "other", want.Email)
		WantKind(t, "another organization's entry", err, port.NotFound)
	}
	page, _, err := s.Account.SuppressedPage(t.Context(), "org", time.Time{}, time.Time{}, "")
	slices.SortFunc(page, func(a, b port.Suppressed) int { return a.At.Compare(b.At) })
	if diff := cmp.Diff(setup.Suppressed, page); diff != "" || err != nil {
		t.Errorf("a page says of the same addresses: %v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Account.FindSuppressed(t.Context(), "org", "BOUNCED@EXAMPLE.COM"); err != nil || got.Email != "bounced@example.com" {
		t.Errorf("in another spelling: %+v, %v", got, err)
	}
	_, err = s.Account.FindSuppressed(t.Context(), "org", "absent@example.com")
	WantKind(t, "an address that is not on the list", err, port.NotFound)
}

// allSuppressed reads all pages of the suppression list in the time window from since to
// until. It returns the addresses.
func allSuppressed(t *testing.T, a port.Account, since, until time.Time) []string {
	t.Helper()
	var emails []string
	token := ""
	for range maxPages {
		page, next, err := a.SuppressedPage(t.Context(), "org", since, until, token)
		if err != nil || len(page) > maxPage {
			t.Fatalf("a page of %d, %v", len(page), err)
		}
		for _, one := range page {
			emails = append(emails, one.Email)
		}
		if next == "" {
			slices.Sort(emails)
			return emails
		}
		token = next
	}
	t.Fatalf("no end after %d pages", maxPages)
	return nil
}

// suppressionHasWindows reads the suppression list with and without a start time and an end
// time. Only addresses that were added in the window may be returned.
func suppressionHasWindows(t *testing.T, s Subject) {
	setup := people()
	for i, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		setup.Suppressed = append(setup.Suppressed, suppressedEntry(email, port.SuppressedByBounce, 10*i))
	}
	s.Seed(t, "org", setup)
	at := func(minutes int) time.Time { return listed.Add(time.Duration(minutes) * time.Minute) }
	for want, window := range map[string][2]time.Time{
		"[a@example.com b@example.com c@example.com]": {},
		"[b@example.com c@example.com]":               {at(5), {}},
		"[a@example.com b@example.com]":               {{}, at(15)},
		"[b@example.com]":                             {at(5), at(15)},
		"[]":                                          {at(25), at(30)},
	} {
		if got := fmt.Sprint(allSuppressed(t, s.Account, window[0], window[1])); got != want {
			t.Errorf("from %v to %v: %s, want %s", window[0], window[1], got, want)
		}
	}
	_, _, err := s.Account.SuppressedPage(t.Context(), "org", time.Time{}, time.Time{}, "no token")
	WantKind(t, "a token that is none", err, port.Invalid)
}

// suppressionPages reads a suppression list that is longer than a page. Each address must
// be read once.
func suppressionPages(t *testing.T, s Subject) {
	setup := people()
	var want []string
	for i := range maxPage + 5 {
		one := suppressedEntry(fmt.Sprintf("person-%04d@example.com", i), port.SuppressedByComplaint, i)
		setup.Suppressed, want = append(setup.Suppressed, one), append(want, one.Email)
	}
	s.Seed(t, "org", setup)
	if got := allSuppressed(t, s.Account, time.Time{}, time.Time{}); !slices.Equal(got, want) {
		t.Errorf("%d addresses come back as %d, or not the same", len(want), len(got))
	}
}
