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

func TestSuppressionListIsPagedInItsWindow(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{PageSize: 3})
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []sending.Suppressed
	for i := range 10 {
		all = append(all, sending.Suppressed{
			Email: fmt.Sprintf("Person-%d@example.com", i), Reason: sending.SuppressedByBounce, At: first.AddDate(0, 0, i),
		})
	}
	setup := simulator.Setup{Suppressed: all}
	must(t, s.Seed(t.Context(), "org", setup))
	must(t, s.Seed(t.Context(), "other", simulator.Setup{Suppressed: all[:1]}))
	for name, test := range map[string]struct {
		since, until time.Time
		want         []sending.Suppressed
	}{
		"all":        {time.Time{}, time.Time{}, all},
		"from a day": {all[4].At, time.Time{}, all[4:]},
		"to a day":   {time.Time{}, all[4].At, all[:4]},
		"between":    {all[2].At, all[5].At, all[2:5]},
		"none":       {all[9].At.Add(1000), time.Time{}, nil},
	} {
		var got []sending.Suppressed
		token, pages := "", 0
		for {
			page, next, err := s.SuppressedPage(t.Context(), "org", test.since, test.until, token)
			must(t, err)
			got = append(got, page...)
			if pages++; next == "" {
				break
			}
			token = next
		}
		if diff := cmp.Diff(test.want, got); diff != "" || pages > 4 {
			t.Errorf("%s, %d pages (-want +got):\n%s", name, pages, diff)
		}
	}
	_, token, err := s.SuppressedPage(t.Context(), "org", time.Time{}, time.Time{}, "")
	must(t, err)
	_, _, err = s.TemplatesPage(t.Context(), "org", token)
	wantFailure(t, err, sending.Invalid)
	_, _, err = s.SuppressedPage(t.Context(), "other", time.Time{}, time.Time{}, token)
	wantFailure(t, err, sending.Invalid)
}

func TestSuppressedIsFoundInAnyCase(t *testing.T) {
	t.Parallel()
	s := newSeeded(t, simulator.Options{})
	entry := sending.Suppressed{Email: "Ann@Example.com", Reason: sending.SuppressedByComplaint, At: time.Unix(5, 0).UTC()}
	must(t, s.Seed(t.Context(), "org", simulator.Setup{Suppressed: []sending.Suppressed{entry}}))
	again := entry
	again.Reason, again.At = sending.SuppressedByBounce, time.Unix(9, 0)
	must(t, s.Seed(t.Context(), "org", simulator.Setup{Suppressed: []sending.Suppressed{again}}))
	if got, err := s.FindSuppressed(t.Context(), "org", "ANN@example.com"); err != nil || got != entry {
		t.Errorf("the entry is %+v, %v", got, err)
	}
	_, err := s.FindSuppressed(t.Context(), "org", "ben@example.com")
	wantFailure(t, err, sending.NotFound)
	_, err = s.FindSuppressed(t.Context(), "nobody", "ann@example.com")
	wantFailure(t, err, sending.NotConnected)
	for _, bad := range []sending.Suppressed{{Email: "nobody", Reason: sending.SuppressedByBounce}, {Email: "a@example.com", Reason: sending.SuppressedByHand}} {
		wantFailure(t, s.Seed(t.Context(), "org", simulator.Setup{Suppressed: []sending.Suppressed{bad}}), sending.Invalid)
	}
}

func TestTemplatesAreKept(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), simulator.Options{PageSize: 1, Clock: tickingClock()})
	must(t, s.Seed(t.Context(), "org", simulator.Setup{Templates: []sending.Template{{Name: "first", Subject: "One"}}}))
	welcome := sending.Template{Name: "welcome", Subject: "Hello {{name}}", Text: "Hello", HTML: "<p>Hello</p>"}
	must(t, s.PutTemplate(t.Context(), "org", welcome))
	page, token, err := s.TemplatesPage(t.Context(), "org", "")
	must(t, err)
	next, end, err := s.TemplatesPage(t.Context(), "org", token)
	must(t, err)
	if len(page) != 1 || page[0].Name != "first" || len(next) != 1 || next[0].Name != "welcome" || end != "" {
		t.Fatalf("the pages are %v, %v and then %q", page, next, end)
	}
	welcome.Text = "Hi"
	must(t, s.PutTemplate(t.Context(), "org", welcome))
	if got, err := s.Template(t.Context(), "org", "welcome"); err != nil || got != welcome {
		t.Errorf("the template is %+v, %v", got, err)
	}
	if again, _, err := s.TemplatesPage(t.Context(), "org", token); err != nil || again[0] != next[0] {
		t.Errorf("a replaced template is listed as %v, %v; before it was %v", again, err, next)
	}
	must(t, s.DeleteTemplate(t.Context(), "org", "welcome"))
	must(t, s.DeleteTemplate(t.Context(), "org", "welcome"))
	_, err = s.Template(t.Context(), "org", "welcome")
	wantFailure(t, err, sending.NotFound)
	for name, bad := range map[string]sending.Template{
		"no name":        {Subject: "x"},
		"a strange name": {Name: "a b", Subject: "x"},
		"a NUL":          {Name: "a\x00", Subject: "x"},
		"a long name":    {Name: strings.Repeat("a", 65), Subject: "x"},
		"no subject":     {Name: "a"},
		"too much of it": {Name: "a", Subject: "x", HTML: strings.Repeat("x", 600_000)},
	} {
		t.Log(name)
		wantFailure(t, s.PutTemplate(t.Context(), "org", bad), sending.Invalid)
	}
	wantFailure(t, s.PutTemplate(t.Context(), "nobody", welcome), sending.NotConnected)
}

func TestProductionAccessIsAskedForOnce(t *testing.T) {
	t.Parallel()
	s := newSeeded(t, simulator.Options{})
	good := sending.ProductionRequest{MailType: sending.Transactional, Website: "https://example.com", UseCase: "Receipts"}
	for _, bad := range []sending.ProductionRequest{
		{},
		{MailType: "SPAM", Website: good.Website, UseCase: "x"},
		{MailType: sending.Promotional, Website: "example.com", UseCase: "x"},
		{MailType: sending.Promotional, Website: "https://example.com"},
		{MailType: sending.Promotional, Website: "ftp://example.com", UseCase: "x"},
	} {
		wantFailure(t, s.RequestProductionAccess(t.Context(), "org", bad), sending.Invalid)
	}
	reviewed := func(want sending.Review, sandbox bool) {
		t.Helper()
		if o, err := s.Overview(t.Context(), "org"); err != nil || o.Review != want || o.Sandbox != sandbox {
			t.Errorf("the account is %+v, %v; want review %q and sandbox %v", o, err, want, sandbox)
		}
	}
	reviewed(sending.NoReview, true)
	must(t, s.RequestProductionAccess(t.Context(), "org", good))
	reviewed(sending.ReviewPending, true)
	wantFailure(t, s.RequestProductionAccess(t.Context(), "org", good), sending.Invalid)
	must(t, s.SetReview(t.Context(), "org", sending.ReviewDenied))
	must(t, s.RequestProductionAccess(t.Context(), "org", good))
	must(t, s.SetReview(t.Context(), "org", sending.ReviewGranted))
	reviewed(sending.ReviewGranted, false)
	wantFailure(t, s.RequestProductionAccess(t.Context(), "org", good), sending.Invalid)
	if o, _ := s.Overview(t.Context(), "org"); o.Max24HourSend != 50_000 || o.MaxSendRate != 14 {
		t.Errorf("a production account has the quotas %d and %d", o.Max24HourSend, o.MaxSendRate)
	}
}
