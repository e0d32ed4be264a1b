package account_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// ready returns the state of an account that passes every check, and the configuration sets
// and identities that a sync would copy from it.
func ready() (sending.Overview, channels.Seen) {
	overview := sending.Overview{AccountID: "123456789012", Region: "eu-central-1", SendingEnabled: true, Max24HourSend: 1000, SentLast24Hours: 10}
	return overview, channels.Seen{
		Sync:       channels.Sync{Account: "123456789012/eu-central-1", Region: "eu-central-1"},
		Sets:       []sending.ConfigurationSet{{Name: "Main"}, {Name: "Other"}},
		Identities: []sending.Identity{{Identity: "example.com", Verification: sending.Success}},
	}
}

// state is a test case: changes to an account that passes every check, and the expected
// result of one check. The check's detail must contain every text in the field says.
type state struct {
	check, status string
	says          []string
	overview      func(*sending.Overview)
	seen          func(*channels.Seen)
	before        func(*testing.T, *bundle)
	channel       string
}

func withAccessStatus(status sending.AccessStatus) func(*testing.T, *bundle) {
	return func(t *testing.T, b *bundle) {
		r := sending.AccessRequest{ID: core.NewID(), ProductionRequest: form, Status: status, CreatedAt: b.now.AddDate(0, 0, -3), UpdatedAt: b.now}
		if status == sending.AccessGranted {
			r.GrantedAt = &b.now
		}
		if err := b.db.ProductionRequests().InsertRequest(t.Context(), b.org.ID, r); err != nil {
			t.Fatal(err)
		}
	}
}

func withConnection(c sending.Connection) func(*testing.T, *bundle) {
	return func(t *testing.T, b *bundle) {
		c.OrgID, c.IngestPath, c.CreatedAt, c.UpdatedAt = b.org.ID, "p", b.now, b.now
		if err := b.db.Connections(nil).SaveConnection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func tracking(status channels.TrackingStatus) func(*testing.T, *bundle) {
	return func(t *testing.T, b *bundle) {
		d, err := b.db.Channels().TrackingDomain(t.Context(), b.org.ID, "click.example.com")
		if err != nil {
			t.Fatal(err)
		}
		if d.Status, d.CheckedAt = status, &b.now; status == channels.TrackingVerified {
			d.VerifiedAt = &b.now
		}
		if err := b.db.Channels().SetTrackingStatus(t.Context(), b.org.ID, d); err != nil {
			t.Fatal(err)
		}
	}
}

func withFigures(f figures) func(*testing.T, *bundle) {
	return func(_ *testing.T, b *bundle) { b.rates = f }
}

func adoptConnection(t *testing.T, b *bundle) {
	other, err := b.db.Channels().Channel(t.Context(), b.org.ID, channels.ChannelKey{Slug: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.db.Channels().Adopt(t.Context(), b.org.ID, other.ID, b.now); err != nil {
		t.Fatal(err)
	}
}

func states() map[string]state {
	sandbox := func(o *sending.Overview) { o.Sandbox = true }
	verified := func(v sending.VerificationStatus) func(*channels.Seen) {
		return func(s *channels.Seen) {
			s.Identities = append(s.Identities, sending.Identity{Identity: "example.net", Verification: v})
		}
	}
	tracked := func(s *channels.Seen) { s.Sets[0].TrackingDomain = "click.example.com" }
	return map[string]state{
		"answers":              {check: "connection", status: "pass", says: []string{`"123456789012"`, `"eu-central-1"`}},
		"may send":             {check: "sending_enabled", status: "pass", says: []string{"may send"}},
		"paused":               {check: "sending_enabled", status: "fail", says: []string{"has paused sending", "answer the review"}, overview: func(o *sending.Overview) { o.SendingEnabled = false }},
		"out of the sandbox":   {check: "production_access", status: "pass", says: []string{"has production access"}},
		"in the sandbox":       {check: "production_access", status: "warn", says: []string{"in the sandbox", "Request production access"}, overview: sandbox},
		"asked to leave it":    {check: "production_access", status: "warn", says: []string{"in the sandbox", "The request of 2026-02-26 is open", "Wait"}, overview: sandbox, before: withAccessStatus(sending.AccessUnderReview)},
		"just asked":           {check: "production_access", status: "warn", says: []string{"The request of 2026-02-26 is open"}, overview: sandbox, before: withAccessStatus(sending.AccessPending)},
		"not let out":          {check: "production_access", status: "warn", says: []string{"The request of 2026-02-26 was not granted", "in a new request"}, overview: sandbox, before: withAccessStatus(sending.AccessFailed)},
		"denied":               {check: "production_access", status: "warn", says: []string{"was not granted", "in a new request"}, overview: sandbox, before: withAccessStatus(sending.AccessDenied)},
		"let out elsewhere":    {check: "production_access", status: "warn", says: []string{"granted earlier", "right account and region"}, overview: sandbox, before: withAccessStatus(sending.AccessGranted)},
		"room":                 {check: "send_quota", status: "pass", says: []string{"10 of 1000 messages"}},
		"little room":          {check: "send_quota", status: "warn", says: []string{"900 of 1000", "higher quota before it is used up"}, overview: func(o *sending.Overview) { o.SentLast24Hours = 900 }},
		"no room":              {check: "send_quota", status: "fail", says: []string{"1000 of 1000", "Wait"}, overview: func(o *sending.Overview) { o.SentLast24Hours = 1000 }},
		"all is verified":      {check: "identity_dns", status: "pass", says: []string{"No identity needs DNS records"}},
		"verified":             {check: "verified_identity", status: "pass", says: []string{`1 identity is verified: "example.com"`}},
		"nothing verified":     {check: "verified_identity", status: "fail", says: []string{"No domain or address is verified", "Publish"}, seen: func(s *channels.Seen) { s.Identities = nil }},
		"looked for":           {check: "identity_dns", status: "warn", says: []string{`"example.net"`, "Publish the DKIM records"}, seen: verified(sending.Pending)},
		"not found":            {check: "identity_dns", status: "warn", says: []string{`could not verify "example.net"`, "Compare"}, seen: verified(sending.Failed)},
		"channels":             {check: "channel", status: "pass", says: []string{`"Main"`, `"Other"`}},
		"no channel":           {check: "channel", status: "fail", says: []string{"no configuration set", "Create one"}, seen: func(s *channels.Seen) { s.Sets = nil }},
		"another channel":      {check: "channel", status: "fail", says: []string{`There is no channel "none"`, `The channels are "Main"`}, channel: "none"},
		"nobody's channel":     {check: "channel", status: "warn", says: []string{`"main" is not adopted`, "Adopt it"}, channel: "main", before: adoptConnection},
		"adopted channel":      {check: "channel", status: "pass", says: []string{`"Other"`}, channel: "other", before: adoptConnection},
		"no tracking domain":   {check: "tracking_domain", status: "pass", says: []string{"No channel has a tracking domain"}},
		"waiting for a domain": {check: "tracking_domain", status: "warn", says: []string{`"click.example.com" are not found yet`, "Publish"}, seen: tracked},
		"no records":           {check: "tracking_domain", status: "warn", says: []string{`"click.example.com" were not found`, "remove the domain from its channel"}, seen: tracked, before: tracking(channels.TrackingFailed)},
		"tracked":              {check: "tracking_domain", status: "pass", says: []string{"1 tracking domain is verified"}, seen: tracked, before: tracking(channels.TrackingVerified)},
		"old infrastructure":   {check: "infrastructure_template", status: "warn", says: []string{"Version 12", "13 is the newest", "Update the stack"}, before: withConnection(sending.Connection{Provider: sending.SES, TemplateVersion: 12})},
		"nothing sent":         {check: "bounce_rate", status: "pass", says: []string{"Nothing was sent in the last 7 days"}},
		"many bounces":         {check: "bounce_rate", status: "fail", says: []string{"120 of 1000 messages", "12.00 %", "reviews an account at 5 %", "pause it at 10 %", "Stop sending"}, before: withFigures(figures{sent: 1000, bounced: 120, complained: 0})},
		"many complaints":      {check: "complaint_rate", status: "warn", says: []string{"2 of 1000 messages", "0.20 %", "Send only to people who asked"}, before: withFigures(figures{sent: 1000, bounced: 0, complained: 2})},
	}
}

// build returns a test setup whose account has the changes of the test case. A sync has
// copied the account's channels and identities.
func (s state) build(t *testing.T) *bundle {
	t.Helper()
	overview, seen := ready()
	if s.overview != nil {
		s.overview(&overview)
	}
	if s.seen != nil {
		s.seen(&seen)
	}
	b := setup(t, simulator.Setup{Account: &overview})
	seen.At = b.now
	if err := b.db.Channels().Mirror(t.Context(), b.org.ID, seen); err != nil {
		t.Fatal(err)
	}
	if s.before != nil {
		s.before(t, b)
	}
	return b
}

func (b *bundle) readiness(t *testing.T, arguments string) account.Readiness {
	t.Helper()
	out, err := b.run(t.Context(), "sending_readiness_check", arguments)
	if err != nil {
		t.Fatal(err)
	}
	return out.(account.Readiness)
}

// TestReadinessSaysWhatItFoundAndWhatToDo checks that each check describes what it found
// and, unless it passes, what to do. It also checks that only a failed check makes the
// account not ready.
func TestReadinessSaysWhatItFoundAndWhatToDo(t *testing.T) {
	t.Parallel()
	for name, s := range states() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := `{}`
			if s.channel != "" {
				arguments = `{"channel":"` + s.channel + `"}`
			}
			got := s.build(t).readiness(t, arguments)
			if got.Ready == (s.status == account.Fail) {
				t.Errorf("ready is %v: %+v", got.Ready, got.Checks)
			}
			i := slices.IndexFunc(got.Checks, func(c account.Check) bool { return c.Name == s.check })
			if i < 0 {
				t.Fatalf("there is no check %s: %+v", s.check, got.Checks)
			}
			c := got.Checks[i]
			if c.Status != s.status {
				t.Errorf("%+v, want %s", c, s.status)
			}
			for _, part := range s.says {
				if !strings.Contains(c.Detail, part) {
					t.Errorf("%q does not say %q", c.Detail, part)
				}
			}
			if other := slices.IndexFunc(got.Checks, func(c account.Check) bool { return c.Name != s.check && c.Status == account.Fail }); other >= 0 {
				t.Errorf("another check fails: %+v", got.Checks[other])
			}
		})
	}
}

// TestReadinessLooksAtAWeek checks that the rates are read once, for the last seven days
// including today, as on the sending health page.
func TestReadinessLooksAtAWeek(t *testing.T) {
	t.Parallel()
	b := state{}.build(t)
	week := &spans{figures: figures{sent: 100, bounced: 0, complained: 0}}
	b.core.Rates = week
	b.readiness(t, "")
	if want := core.LastDays(b.now, 7); len(week.asked) != 1 || week.asked[0] != want {
		t.Errorf("looked at %v, want %v", week.asked, want)
	}
}

// spans is a fake of account.Rates that records the time window of each call.
type spans struct {
	figures
	asked []core.Window
}

func (s *spans) Rates(ctx context.Context, org string, w core.Window) (sent, bounced, complained int64, err error) {
	s.asked = append(s.asked, w)
	return s.figures.Rates(ctx, org, w)
}

// TestReadinessWithoutAnAccount checks that sending_readiness_check succeeds for an
// organization without an account. Its only check says that none is connected.
func TestReadinessWithoutAnAccount(t *testing.T) {
	t.Parallel()
	b := setup(t, simulator.Setup{})
	b.org.ID = core.NewID()
	got := b.readiness(t, `{"channel":"main"}`)
	if got.Ready || got.SendQuota != nil || got.Sandbox || len(got.Checks) != 1 {
		t.Fatalf("%+v", got)
	}
	c := got.Checks[0]
	if c.Name != "connection" || c.Status != account.Fail || !strings.Contains(c.Detail, "No sending account is connected") || !strings.Contains(c.Detail, "Connect one") {
		t.Errorf("%+v", c)
	}
}

// probedAccount is a fake sending account that implements sending.Prober. Its Probe
// returns err.
type probedAccount struct {
	account.SendingAccount
	err error
}

func (p probedAccount) Probe(context.Context, string) error { return p.err }

// TestReadinessOfAMailServer checks that an SMTP server without channels and identities is
// ready. A server has no channels and may check senders itself.
func TestReadinessOfAMailServer(t *testing.T) {
	t.Parallel()
	server := func(identities ...sending.Identity) *bundle {
		b := state{
			seen:   func(s *channels.Seen) { s.Sets, s.Identities = nil, identities },
			before: withConnection(sending.Connection{Provider: sending.SMTP, Endpoint: "mail.example.com:587"}),
		}.build(t)
		b.core.Account = probedAccount{b.account, nil}
		return b
	}
	b := server()
	if got := b.readiness(t, ""); !got.Ready {
		t.Errorf("not ready: %+v", got.Checks)
	}
	for name, part := range map[string]string{"verified_identity": "the server itself decides which senders it accepts", "channel": "needs no channels"} {
		if c := b.check(t, name, ""); c.Status != account.Pass || !strings.Contains(c.Detail, part) {
			t.Errorf("%+v does not say %q", c, part)
		}
	}
	if c := b.check(t, "channel", `{"channel":"main"}`); c.Status != account.Fail || !strings.Contains(c.Detail, `no channel "main"`) || !strings.Contains(c.Detail, "Leave the channel out") {
		t.Errorf("%+v", c)
	}
	named := server(sending.Identity{Identity: "example.com", Verification: sending.Success})
	if c := named.check(t, "verified_identity", ""); c.Status != account.Pass || !strings.Contains(c.Detail, `"example.com"`) {
		t.Errorf("%+v", c)
	}
	for kind, status := range map[sending.FailureKind]int{sending.Refused: 503, sending.TimedOut: 504} {
		b.core.Account = probedAccount{b.account, &sending.Failure{Kind: kind, Err: errors.New("by test")}}
		_, err := b.run(t.Context(), "sending_readiness_check", "")
		if e := core.AsError(err); e == nil || e.Code != core.CodeUpstreamUnavailable || e.HTTPStatus() != status || e.RetryAfter < time.Second {
			t.Errorf("a server that is out of reach (%s): %v", kind, err)
		}
	}
}
