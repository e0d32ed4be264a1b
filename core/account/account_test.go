package account_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

type bundle struct {
	db      *storage.DB
	core    *account.Account
	account *simulator.Simulator
	ops     map[string]core.Operation
	org     core.Org
	now     time.Time
	rates   figures
}

// figures is a fake of account.Rates that returns fixed counts of sent, bounced and
// complained-about messages.
type figures struct {
	sent, bounced, complained int64
	asked                     core.Window // the time window of the latest call of Rates
}

func (f *figures) Rates(_ context.Context, _ string, w core.Window) (sent, bounced, complained int64, err error) {
	f.asked = w
	return f.sent, f.bounced, f.complained, nil
}

func setup(t *testing.T, s simulator.Setup) *bundle {
	t.Helper()
	limit := 300
	b := &bundle{
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), ops: map[string]core.Operation{},
		org: core.Org{ID: core.NewID(), Name: "Org", Slug: "org", Tier: "team", RetentionDays: 90, RateLimit: &limit},
	}
	b.account = simulatortest.Open(t, simulator.Options{})
	if err := b.account.Seed(t.Context(), b.org.ID, s); err != nil {
		t.Fatal(err)
	}
	b.db = storagetest.SQLite(t)
	b.core = account.New(account.Config{
		Account: b.account, Connections: b.db.Connections(nil), Mirror: b.db.Channels(), Requests: b.db.ProductionRequests(), Rates: &b.rates,
		Orgs:  func(context.Context) ([]string, error) { return []string{b.org.ID}, nil },
		Clock: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler),
	})
	for _, op := range b.core.Operations() {
		b.ops[op.Info().Name] = op
	}
	return b
}

func (b *bundle) run(ctx context.Context, name, arguments string) (any, error) {
	op, call := b.ops[name], &core.Call{Principal: core.Principal{Org: b.org}}
	in, err := op.Decode(core.Agent, []byte(arguments))
	if err != nil {
		return nil, err
	}
	if in, err = op.Prepare(ctx, call, in); err != nil {
		return nil, err
	}
	return op.Do(ctx, call, in)
}

func TestAccountShowsOrgPlanAndQuota(t *testing.T) {
	t.Parallel()
	b := setup(t, simulator.Setup{Account: &sending.Overview{AccountID: "123456789012", Region: "eu-central-1", SendingEnabled: true, Max24HourSend: -1, MaxSendRate: 14, SentLast24Hours: 3}})
	out, err := b.run(t.Context(), "account_get", "")
	if err != nil {
		t.Fatal(err)
	}
	got := out.(account.Overview)
	if got.Org.Slug != "org" || got.Plan.Tier != "team" || *got.Plan.RateLimit != 300 {
		t.Errorf("%+v", got)
	}
	if *got.AWS.AccountID != "123456789012" || got.AWS.Region != "eu-central-1" || got.AWS.Sandbox {
		t.Errorf("%+v", got.AWS)
	}
	if got.SendQuota.Max24Hour != 0 || got.SendQuota.MaxSendRate != 14 || got.SendQuota.SentLast24Hour != 3 {
		t.Errorf("values are at least 0: %+v", got.SendQuota)
	}
}

func TestAccountSurvivesItsProvider(t *testing.T) {
	t.Parallel()
	b := setup(t, simulator.Setup{Account: &sending.Overview{SendingEnabled: true}})
	b.account.Faults().Set(simulator.Fault{Kind: sending.Refused, Times: 1})
	got := b.mustAccount(t)
	if got.AWS != nil || got.SendQuota != nil || got.Org.ID != b.org.ID {
		t.Errorf("the live members are null, the rest is there: %+v", got)
	}
	if b.mustAccount(t).AWS == nil {
		t.Error("a failure was remembered")
	}
	b.account.Faults().Set(simulator.Fault{Kind: sending.Refused})
	if b.mustAccount(t).AWS == nil {
		t.Error("within a minute the answer is the one of before")
	}
	b.now = b.now.Add(time.Minute)
	if b.mustAccount(t).AWS != nil {
		t.Error("after a minute the account is asked again")
	}
}

func (b *bundle) mustAccount(t *testing.T) account.Overview {
	t.Helper()
	out, err := b.run(t.Context(), "account_get", "")
	if err != nil {
		t.Fatal(err)
	}
	return out.(account.Overview)
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	verified := []sending.Identity{{Identity: "example.com", Verification: sending.Success}}
	sets := []sending.ConfigurationSet{{Name: "marketing"}}
	good := sending.Overview{SendingEnabled: true, Max24HourSend: 1000, SentLast24Hours: 10}
	edit := func(f func(*sending.Overview)) *sending.Overview { o := good; f(&o); return &o }
	for name, tc := range map[string]struct {
		setup     simulator.Setup
		arguments string
		ready     bool
		check     string
		status    string
	}{
		"all well":          {simulator.Setup{Account: &good, Identities: verified, ConfigurationSets: sets}, `{"channel":"marketing"}`, true, "channel", "pass"},
		"unknown channel":   {simulator.Setup{Account: &good, Identities: verified, ConfigurationSets: sets}, `{"channel":"x"}`, false, "channel", "fail"},
		"no channel":        {simulator.Setup{Account: &good, Identities: verified}, `{}`, false, "channel", "fail"},
		"nothing verified":  {simulator.Setup{Account: &good, Identities: []sending.Identity{{Identity: "example.com", Verification: sending.Pending}}, ConfigurationSets: sets}, ``, false, "verified_identity", "fail"},
		"paused":            {simulator.Setup{Account: edit(func(o *sending.Overview) { o.SendingEnabled = false }), Identities: verified, ConfigurationSets: sets}, ``, false, "sending_enabled", "fail"},
		"sandbox":           {simulator.Setup{Account: edit(func(o *sending.Overview) { o.Sandbox = true }), Identities: verified, ConfigurationSets: sets}, ``, true, "production_access", "warn"},
		"quota nearly used": {simulator.Setup{Account: edit(func(o *sending.Overview) { o.SentLast24Hours = 900 }), Identities: verified, ConfigurationSets: sets}, ``, true, "send_quota", "warn"},
		"quota used":        {simulator.Setup{Account: edit(func(o *sending.Overview) { o.SentLast24Hours = 1000 }), Identities: verified, ConfigurationSets: sets}, ``, false, "send_quota", "fail"},
		"unlimited":         {simulator.Setup{Account: edit(func(o *sending.Overview) { o.Max24HourSend = -1 }), Identities: verified, ConfigurationSets: sets}, ``, true, "send_quota", "pass"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := setup(t, tc.setup).run(t.Context(), "sending_readiness_check", tc.arguments)
			if err != nil {
				t.Fatal(err)
			}
			got := out.(account.Readiness)
			if got.Ready != tc.ready {
				t.Errorf("ready = %v: %+v", got.Ready, got.Checks)
			}
			for _, c := range got.Checks {
				if c.Name == tc.check && c.Status != tc.status {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

func TestReadinessNeedsTheAccount(t *testing.T) {
	t.Parallel()
	b := setup(t, simulator.Setup{})
	b.account.Faults().Set(simulator.Fault{Kind: sending.TimedOut})
	_, err := b.run(t.Context(), "sending_readiness_check", "")
	if e := core.AsError(err); e == nil || e.Code != core.CodeUpstreamUnavailable || e.HTTPStatus() != 504 {
		t.Errorf("%v", err)
	}
}
