package domainauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/domainauthtest"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/compose"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const domain = "example.com"

// start is the time of the clock when a test begins.
var start = time.Date(2026, 6, 20, 15, 4, 5, 0, time.UTC)

// world is an organization with the verified sending domain example.com on a database.
type world struct {
	db         *storage.DB
	org        core.Org
	caller     core.Principal
	now        time.Time
	operations map[string]core.Operation
	reader     *intake.Reader
	polls      int
}

func each(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { f(t, newWorld(t, db)) })
}

func newWorld(t testing.TB, db *storage.DB) *world {
	t.Helper()
	w := &world{db: db, org: core.Org{ID: core.NewID()}, now: start, operations: map[string]core.Operation{}}
	w.caller = core.Principal{Org: w.org, UserID: core.NewID(), Credential: core.Credential{Kind: core.Person, ID: core.NewID()}}
	seen := channels.Seen{
		Sync:       channels.Sync{Account: w.org.ID, Region: "eu-west-1", At: start},
		Identities: []sending.Identity{{Identity: domain, Verification: sending.Success}, {Identity: "pending.example", Verification: sending.Pending}, {Identity: "me@example.org", Verification: sending.Success}},
	}
	if err := db.Channels().Mirror(t.Context(), w.org.ID, seen); err != nil {
		t.Fatal(err)
	}
	w.reader = intake.New(intake.Config{Store: db.DMARCReports(), Transactor: db, Clock: w.clock})
	stored := db.DomainAuth()
	a := domainauth.New(domainauth.Config{
		Store: stored, Figures: stored, Sources: stored, Timeline: stored,
		Measurer: measuring.New(measuring.Config{Polls: db.DomainMeasuring(), Queue: queue{}, Clock: w.clock}),
		Address:  func(token string) string { return "dmarc-" + token + "@inbox.example" },
	})
	for _, op := range a.Operations() {
		w.operations[op.Info().Name] = op
	}
	return w
}

func (w *world) clock() time.Time { return w.now }

// call runs an operation with the steps of package guardrails, as the caller.
func (w *world) call(ctx context.Context, name, arguments string) (any, *core.Error) {
	op := w.operations[name]
	call := &core.Call{Principal: w.caller, Surface: core.REST, Now: w.now}
	defer call.Finish()
	in, err := op.Decode(core.REST, []byte(arguments))
	if err != nil {
		return nil, core.AsError(err)
	}
	if op.Info().Effect == core.Reads {
		out, err := op.Do(ctx, call, in)
		return out, core.AsError(err)
	}
	var out any
	err = w.db.InTx(ctx, func(ctx context.Context) error {
		out, err = op.Do(ctx, call, in)
		return err
	})
	return out, core.AsError(err)
}

// want runs an operation that must succeed, and returns its result as REST shows it.
func (w *world) want(t testing.TB, name, arguments string) map[string]any {
	t.Helper()
	out, failed := w.call(t.Context(), name, arguments)
	if failed != nil {
		t.Fatalf("%s(%s): %v", name, arguments, failed)
	}
	raw, err := json.Marshal(w.operations[name].View(core.REST, out))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.operations[name].Output(core.REST).Check(raw); err != nil {
		t.Errorf("%s: the result does not fit its own schema: %v\n%s", name, err, raw)
	}
	var shown map[string]any
	if err := json.Unmarshal(raw, &shown); err != nil {
		t.Fatal(err)
	}
	return shown
}

// refuse runs an operation that must fail with the code, and returns the error.
func (w *world) refuse(t testing.TB, name, arguments string, code core.Code) core.Error {
	t.Helper()
	_, err := w.call(t.Context(), name, arguments)
	if err == nil || err.Code != code {
		t.Fatalf("%s(%s) = %v, want %s", name, arguments, err, code)
	}
	return *err
}

// daysAgo returns the UTC day n days before start.
func daysAgo(n int) time.Time { return figures.AddDays(start, -n) }

// read reads a report about the domain on a day into the database.
func (w *world) read(t testing.TB, reporter string, ago int, policy string, records ...report.Record) {
	t.Helper()
	begin := daysAgo(ago)
	about := report.Report{
		Org: reporter, Email: "dmarc@" + reporter, ID: fmt.Sprint(ago), Begin: begin, End: begin.Add(24*time.Hour - time.Second),
		Policy: report.Policy{Domain: domain, P: policy, SP: policy},
	}
	var b bytes.Buffer
	if err := compose.WriteGzip(&b, compose.RFC9990, about, slices.Values(records)); err != nil {
		t.Fatal(err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	result, err := w.reader.Read(t.Context(), intake.Target{OrgID: w.org.ID, ReceivedAt: w.now}, open)
	if err != nil || result.Reports != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
}

// own is mail of the domain's own server, passing DMARC.
func own(n uint64) report.Record {
	return report.Record{
		SourceIP: netip.MustParseAddr("192.0.2.1"), Count: n, Disposition: "none", DKIM: true, SPF: true, HeaderFrom: domain, EnvelopeFrom: domain,
		Signatures: []report.Signature{{Domain: domain, Selector: "s1", Result: "pass"}}, SPFResults: []report.SPFResult{{Domain: domain, Scope: "mfrom", Result: "pass"}},
	}
}

// stranger is failing mail of an address about which nothing is proven.
func stranger(n uint64) report.Record {
	return report.Record{SourceIP: netip.MustParseAddr("198.51.100.7"), Count: n, Disposition: "none", HeaderFrom: domain}
}

// forwarded is failing mail that a forwarder passed on.
func forwarded(n uint64) report.Record {
	return report.Record{
		SourceIP: netip.MustParseAddr("203.0.113.5"), Count: n, Disposition: "none", HeaderFrom: domain, EnvelopeFrom: "lists.example.net",
		Reasons: []report.Reason{{Type: "mailing_list"}}, SPFResults: []report.SPFResult{{Domain: "lists.example.net", Scope: "mfrom", Result: "pass"}},
	}
}

// publish stores what DNS says about the domain, as a poll does.
func (w *world) publish(t testing.TB, record string) {
	t.Helper()
	found, err := dmarc.Discover(t.Context(), domainauthtest.Zone{"_dmarc." + domain: record}, domain)
	if err != nil {
		t.Fatal(err)
	}
	w.want(t, "domain_auth_domains_list", `{}`) // enrols the domain
	d, err := w.db.DomainAuth().Domain(t.Context(), w.org.ID, domain)
	if err != nil {
		t.Fatal(err)
	}
	text := &record
	if record == "" {
		text = nil
	}
	due, err := w.db.DomainMeasuring().DomainToPoll(t.Context(), w.org.ID, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.polls += 1000
	lease := w.now.Add(time.Minute).Add(time.Duration(w.polls))
	if claimed, err := w.db.DomainMeasuring().ClaimPoll(t.Context(), due, lease); err != nil || !claimed {
		t.Fatalf("claimed %t, %v", claimed, err)
	}
	_, err = w.db.DomainMeasuring().SavePoll(t.Context(), w.org.ID, d.ID, measuring.Poll{
		Lease: lease, Next: w.now.Add(time.Hour),
		Snapshot: lookup.Snapshot{At: w.now, LookedAt: w.now.Add(time.Duration(w.polls)), Discovery: found, Records: []lookup.Record{{Name: "_dmarc." + domain, Kind: timeline.PolicyChange, Text: text, Fresh: true}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// queue takes jobs and runs none.
type queue struct{}

func (queue) Enqueue(context.Context, jobs.Args) error { return nil }

func (queue) EnqueueOnce(context.Context, jobs.Args) (bool, error) { return true, nil }
