package measuring_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/domainauthtest"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/resolver"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	domainName = "bakery.example"
	policyName = "_dmarc.bakery.example"
)

// world is an organization with the sending domain bakery.example, name servers and a clock.
type world struct {
	*domainauthtest.Clock
	t         testing.TB
	db        *storage.DB
	org       string
	zone      *mailauthtest.Zone
	measuring *measuring.Measuring
	polled    bool

	mu     sync.Mutex
	queued []jobs.Args
}

func newWorld(t testing.TB, db *storage.DB) *world {
	t.Helper()
	w := &world{t: t, db: db, org: core.NewID(), Clock: domainauthtest.NewClock(start), polled: true, zone: mailauthtest.NewZone(t)}
	w.must(db.Orgs().InsertOrg(t.Context(), core.Org{ID: w.org, Name: "Bakery", Slug: w.org, Tier: "team", RetentionDays: 30}))
	w.must(db.Channels().Mirror(t.Context(), w.org, channels.Seen{
		Sync: channels.Sync{Account: w.org, Region: "eu-central-1", At: start},
		Identities: []sending.Identity{
			{Identity: "Bakery.example", Verification: sending.Success, DKIMTokens: []string{"tok1", "tok2"}},
			{Identity: "unverified.example", Verification: sending.Pending},
			{Identity: "owner@other.example", Verification: sending.Success},
		},
	}))
	w.measuring = measuring.New(w.config())
	w.must(w.measuring.EnrolWorker().Work(t.Context(), measuring.EnrolArgs{}))
	return w
}

func (w *world) config() measuring.Config {
	store := w.db.DomainMeasuring()
	return measuring.Config{
		Polls: store, Refreshes: store, Purges: store, Enroller: w.db.DomainAuth(), Tokens: w.db.Channels(), Resolver: resolver.New(w.zone, w.zone),
		IsPolled: func(context.Context, string) (bool, error) { return w.polled, nil },
		RowDays:  domainauth.RowDays, KeptDays: domainauth.RetentionDays, Queue: w,
		Orgs:  func(context.Context) ([]string, error) { return []string{w.org}, nil },
		Clock: w.Now, Log: slog.New(slog.DiscardHandler), Random: func() float64 { return 0.5 },
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// Enqueue is not used.
func (w *world) Enqueue(context.Context, jobs.Args) error { return errors.ErrUnsupported }

// EnqueueOnce remembers a job.
func (w *world) EnqueueOnce(_ context.Context, args jobs.Args) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued = append(w.queued, args)
	return true, nil
}

// poll polls what is due.
func (w *world) poll() {
	w.t.Helper()
	w.must(w.measuring.PollDue(w.t.Context()))
}

// save stores a poll without a change.
func (w *world) save(p measuring.Poll) {
	w.t.Helper()
	if changed, err := w.db.DomainMeasuring().SavePoll(w.t.Context(), w.org, w.id(), p); changed || err != nil {
		w.t.Fatal(changed, err)
	}
}

// refresh refreshes the domain, whether it is due or not.
func (w *world) refresh() {
	w.t.Helper()
	w.must(w.measuring.Refresh(w.t.Context(), w.org, w.id()))
}

// domain returns the domain.
func (w *world) domain() domainauth.Domain {
	w.t.Helper()
	d, err := w.db.DomainAuth().Domain(w.t.Context(), w.org, domainName)
	w.must(err)
	return d
}

func (w *world) id() string { return w.domain().ID }

// ref names the domain.
func (w *world) ref() measuring.DomainRef {
	return measuring.DomainRef{OrgID: w.org, ID: w.id(), Name: domainName}
}

// measureAt returns the time of the next poll.
func (w *world) measureAt() time.Time {
	w.t.Helper()
	d, err := w.db.DomainMeasuring().DomainToPoll(w.t.Context(), w.org, w.id())
	w.must(err)
	return d.MeasureAt
}

// runs returns the runs of records, one a line.
func (w *world) runs() []string {
	w.t.Helper()
	found, err := w.db.DomainMeasuring().RecordRuns(w.t.Context(), w.ref())
	w.must(err)
	var all []string
	for _, r := range found {
		all = append(all, fmt.Sprintf("%s %s-%s %s", r.Subject, hours(r.First), hours(r.Last), text(r.Text)))
	}
	return all
}

// events returns the events, one a line, the oldest first.
func (w *world) events() []string {
	w.t.Helper()
	found, err := w.db.DomainAuth().Events(w.t.Context(), w.org, w.id(), domainauth.EventFilter{Limit: 10_000})
	w.must(err)
	var all []string
	for _, e := range found {
		all = append(all, fmt.Sprintf("%s %s %s %d: %s", e.Kind, e.Origin, hours(e.OccurredAt), e.Sightings, e.Title))
	}
	slices.Reverse(all)
	return all
}

// hours returns a time in hours since the start.
func hours(at time.Time) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", at.Sub(start).Hours()), ".0")
}

func text(of *string) string {
	if of == nil {
		return "none"
	}
	return *of
}

// exec runs SQL of a test.
func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.Writer().ExecContext(w.t.Context(), query, args...)
	w.must(err)
}

// execEach runs SQL of a test for each number below n, in one transaction.
func (w *world) execEach(n int, query string, args func(i int) []any) {
	w.t.Helper()
	tx, err := w.db.Writer().BeginTx(w.t.Context(), nil)
	w.must(err)
	for i := range n {
		_, err := tx.ExecContext(w.t.Context(), query, args(i)...)
		w.must(err)
	}
	w.must(tx.Commit())
}

// count returns the number of rows of a table of the organization.
func (w *world) count(table string) int {
	w.t.Helper()
	var n int
	err := w.db.Reader().QueryRowContext(w.t.Context(), "SELECT count(*) FROM "+table+" WHERE org_id = $1", w.org).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0
	}
	w.must(err)
	return n
}

// day returns the number of a UTC day, n days after the start.
func day(n int) int64 { return start.AddDate(0, 0, n).Unix() / (24 * 60 * 60) }

// micro returns a time as the database has it.
func micro(at time.Time) int64 { return at.UnixMicro() }

// addReport adds a counted report that states a policy, about the UTC day n days after the
// start. It is received two hours after its end.
func (w *world) addReport(reporter, policy string, n int) {
	w.t.Helper()
	begin := time.Unix(day(n)*24*60*60, 0).UTC()
	end := begin.Add(24*time.Hour - time.Second)
	w.exec(`INSERT INTO domainauth_reports (org_id, id, domain_id, file_id, identity, reporter, organization, report_id, begins_at, ends_at, day, policy,
			state, records, messages, passing, warnings, received_at)
		VALUES ($1, $2, $3, 'f', $4, $5, '', '', $6, $7, $8, $9, 'counted', 0, 0, 0, '[]', $10)`,
		w.org, core.NewID(), w.id(), core.NewID(), reporter, micro(begin), micro(end), day(n), policy, micro(end.Add(2*time.Hour)))
}

// addSource adds a source and returns its id.
func (w *world) addSource(key, classification string) string {
	w.t.Helper()
	id := core.NewID()
	w.exec(`INSERT INTO domainauth_sources (org_id, domain_id, id, key, name, provider, classification, support, decision, decided_by, first_day, last_day, sample_ips)
		VALUES ($1, $2, $3, $4, $5, '', $6, '{}', 'unreviewed', '', $7, $7, '[]')`, w.org, w.id(), id, key, "Name of "+key, classification, day(0))
	return id
}

// addFigures adds messages of a source on a day: those that passed both checks, and those that
// failed. Without a source, the day has a report and nothing else.
func (w *world) addFigures(source string, n int, both, failed int64) {
	w.t.Helper()
	const columns = `none_both, none_dkim, none_spf, none_fail, none_relayed, quarantine_both, quarantine_dkim, quarantine_spf, quarantine_fail,
		quarantine_relayed, reject_both, reject_dkim, reject_spf, reject_fail, reject_relayed`
	if source != "" {
		w.exec(`INSERT INTO domainauth_daily (org_id, domain_id, day, source, `+columns+`)
			VALUES ($1, $2, $3, $4, $5, 0, 0, $6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`, w.org, w.id(), day(n), source, both, failed)
	}
	w.exec(`INSERT INTO domainauth_totals (org_id, domain_id, day, `+columns+`)
		VALUES ($1, $2, $3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING`, w.org, w.id(), day(n))
}

// findings returns the findings, one a line.
func (w *world) findings() []string {
	w.t.Helper()
	found, err := w.db.DomainMeasuring().Findings(w.t.Context(), w.ref())
	w.must(err)
	var all []string
	for _, f := range found {
		closed := "open"
		if !f.ClosedAt.IsZero() {
			closed = f.ClosedAt.Format(time.DateOnly)
		}
		all = append(all, fmt.Sprintf("%s %s-%s %v", f.Code, f.OpenedAt.Format(time.DateOnly), closed, f.Announced))
	}
	slices.Sort(all)
	return all
}
