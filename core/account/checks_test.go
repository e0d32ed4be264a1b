package account_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// check runs sending_readiness_check and returns the check with the given name from its
// result.
func (b *bundle) check(t *testing.T, name, arguments string) account.Check {
	t.Helper()
	out, err := b.run(t.Context(), "sending_readiness_check", arguments)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out.(account.Readiness).Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %s", name)
	return account.Check{}
}

func TestRatesAreHeldToTheProvidersThresholds(t *testing.T) {
	t.Parallel()
	b := setup(t, simulator.Setup{Account: &sending.Overview{SendingEnabled: true, Max24HourSend: 1000}})
	for _, tc := range []struct {
		figures
		bounces, complaints string
	}{
		{figures{sent: 0, bounced: 0, complained: 0}, "pass", "pass"},
		{figures{sent: 1000, bounced: 49, complained: 0}, "pass", "pass"},
		{figures{sent: 1000, bounced: 50, complained: 1}, "warn", "warn"},
		{figures{sent: 1000, bounced: 99, complained: 4}, "warn", "warn"},
		{figures{sent: 1000, bounced: 100, complained: 5}, "fail", "fail"},
		{figures{sent: 10, bounced: 1, complained: 1}, "warn", "warn"},
	} {
		b.rates = tc.figures
		bounces, complaints := b.check(t, "bounce_rate", ""), b.check(t, "complaint_rate", "")
		if bounces.Status != tc.bounces || complaints.Status != tc.complaints {
			t.Errorf("%+v: %+v, %+v", tc.figures, bounces, complaints)
		}
	}
	if got := b.check(t, "complaint_rate", "").Detail; !strings.Contains(got, "10.00 %") || !strings.Contains(got, "0.1 %") || !strings.Contains(got, "0.5 %") {
		t.Errorf("the evidence is missing: %s", got)
	}
}

// TestReadinessLooksAtTheMirror checks that sending_readiness_check reads channels and
// identities from the database once a sync has copied them. Reading them from the account
// is slow.
func TestReadinessLooksAtTheMirror(t *testing.T) {
	t.Parallel()
	b := setup(t, simulator.Setup{Account: &sending.Overview{SendingEnabled: true, Max24HourSend: 1000, Region: "eu-central-1"}})
	seen := channels.Seen{
		Sync:       channels.Sync{Account: "1/eu-central-1", Region: "eu-central-1", At: b.now},
		Sets:       []sending.ConfigurationSet{{Name: "Main", TrackingDomain: "click.example.com"}, {Name: "Old"}},
		Identities: []sending.Identity{{Identity: "example.com", Verification: sending.Success}, {Identity: "example.net", Verification: sending.Pending}},
	}
	mirror := func() {
		t.Helper()
		if err := b.db.Channels().Mirror(t.Context(), b.org.ID, seen); err != nil {
			t.Fatal(err)
		}
		seen.Previous = seen.At
	}
	mirror()
	for name, want := range map[string]string{"connection": "pass", "verified_identity": "pass", "identity_dns": "warn", "tracking_domain": "warn", "channel": "pass"} {
		if got := b.check(t, name, ""); got.Status != want {
			t.Errorf("%+v", got)
		}
	}
	old, err := b.db.Channels().Channel(t.Context(), b.org.ID, channels.ChannelKey{Slug: "old"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.db.Channels().Adopt(t.Context(), b.org.ID, old.ID, b.now); err != nil {
		t.Fatal(err)
	}
	if got := b.check(t, "channel", `{"channel":"main"}`); got.Status != "warn" {
		t.Errorf("discovered: %+v", got)
	}
	seen.Sets = seen.Sets[:1]
	mirror()
	if got := b.check(t, "channel", `{"channel":"old"}`); got.Status != "fail" || !strings.Contains(got.Detail, "no longer") {
		t.Errorf("detached: %+v", got)
	}
}

// TestTheRatesAreOfTheDaysOfTheHealthPage checks that sending_readiness_check reads the
// bounce and complaint rates of the last seven days, today included. The sending health
// page covers the same days, so it shows the same rates.
func TestTheRatesAreOfTheDaysOfTheHealthPage(t *testing.T) {
	t.Parallel()
	b := setup(t, simulator.Setup{})
	if _, err := b.run(t.Context(), "sending_readiness_check", ""); err != nil {
		t.Fatal(err)
	}
	if want := core.LastDays(b.now, 7); b.rates.asked != want {
		t.Errorf("rates of %v, want %v", b.rates.asked, want)
	}
}
