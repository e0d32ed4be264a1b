package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/compose"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

const (
	org    = "0198c5a0-0000-7000-8000-000000000001"
	other  = "0198c5a0-0000-7000-8000-000000000002"
	domain = "example.com"
)

var (
	now = time.Date(2026, 6, 20, 15, 0, 0, 0, time.UTC)
	all = domainauth.Days{From: figures.AddDays(now, -730), To: figures.AddDays(now, 2)}
)

// world is a database with one domain of an organization.
type world struct {
	db     *storage.DB
	reader *intake.Reader
	domain domainauth.Domain
}

func setup(t testing.TB, db *storage.DB) *world {
	t.Helper()
	if err := db.DMARCReports().AddDomain(t.Context(), org, domain, now); err != nil {
		t.Fatal(err)
	}
	d, err := db.DomainAuth().Domain(t.Context(), org, domain)
	if err != nil {
		t.Fatal(err)
	}
	return &world{db, newReader(db, db.DMARCReports()), d}
}

func newReader(db *storage.DB, s intake.Store) *intake.Reader {
	return intake.New(intake.Config{Store: s, Transactor: db, Clock: func() time.Time { return now }})
}

// written is a report of a test.
type written struct {
	report  report.Report
	records []report.Record
}

func (w written) open() (io.ReadCloser, error) {
	var b bytes.Buffer
	if err := compose.WriteGzip(&b, compose.RFC9990, w.report, slices.Values(w.records)); err != nil {
		return nil, err
	}
	return io.NopCloser(&b), nil
}

// about returns a report about a domain on a day, n days before now.
func about(domain, reporter, id string, daysAgo int, records ...report.Record) written {
	begin := figures.AddDays(now, -daysAgo)
	return written{report.Report{
		Org: reporter, Email: "dmarc@" + reporter, ID: id, Begin: begin, End: begin.Add(24*time.Hour - time.Second),
		Policy: report.Policy{Domain: domain, P: "none", SP: "none"},
	}, records}
}

// until returns a report of a period that begins yesterday and ends at a time.
func until(end time.Time) written {
	of := about(domain, "receiver.example", "2", 1, record("192.0.2.1", 1, "none", true, true))
	of.report.End = end
	return of
}

func record(ip string, n uint64, disposition string, dkim, spf bool) report.Record {
	r := report.Record{SourceIP: netip.MustParseAddr(ip), Count: n, Disposition: disposition, DKIM: dkim, SPF: spf, HeaderFrom: domain}
	if dkim {
		r.Signatures = []report.Signature{{Domain: domain, Selector: "s1", Result: "pass"}}
	}
	if spf {
		r.SPFResults = []report.SPFResult{{Domain: domain, Scope: "mfrom", Result: "pass"}}
		r.EnvelopeFrom = domain
	}
	return r
}

func (w *world) read(t testing.TB, of written) intake.Result {
	t.Helper()
	result, err := w.reader.Read(t.Context(), intake.Target{OrgID: org, Addressed: domain, ReceivedAt: now}, of.open)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// figuresOf returns all figures of the domain as text, so that two states can be compared.
func (w *world) figuresOf(t testing.TB) string {
	t.Helper()
	s, ctx := w.db.DomainAuth(), t.Context()
	totals, err := s.Totals(ctx, org, w.domain.ID, all)
	rows, err2 := s.Rows(ctx, org, w.domain.ID, all)
	listed, _, err3 := s.Sources(ctx, org, w.domain.ID, domainauth.SourceFilter{Days: all}, nil, 1000)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	text := fmt.Sprintln("totals", totals)
	for _, source := range listed {
		names[source.ID] = source.Name
		source.ID = ""
		text += fmt.Sprintf("%+v\n", source)
	}
	lines := []string{}
	for _, r := range rows {
		lines = append(lines, fmt.Sprintln(r.Day, names[r.Source], r.Aligned, r.RelayBroken, r.Messages))
	}
	slices.Sort(lines)
	return text + fmt.Sprint(lines)
}

func TestCopiesAndStrangersDoNotCount(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := setup(t, db)
		first := about(domain, "receiver.example", "1", 3, record("192.0.2.1", 10, "none", true, true), record("198.51.100.7", 4, "reject", false, false))
		if got := w.read(t, first); got.Reports != 1 || got.Records != 2 || got.Messages != 14 {
			t.Fatalf("first: %+v", got)
		}
		before := w.figuresOf(t)
		for name, tc := range map[string]struct {
			of   written
			want intake.Result
		}{
			"a copy":                       {first, intake.Result{Found: 1, Duplicates: 1}},
			"another domain":               {about("example.org", "receiver.example", "2", 3, record("192.0.2.1", 1, "none", true, true)), intake.Result{Found: 1, Foreign: 1}},
			"a name that ends like it":     {about("notexample.com", "receiver.example", "2", 3, record("192.0.2.1", 1, "none", true, true)), intake.Result{Found: 1, Foreign: 1}},
			"a subdomain that is not here": {about("sub.example.com", "receiver.example", "2", 3, record("192.0.2.1", 1, "none", true, true)), intake.Result{Found: 1, Foreign: 1}},
			"older than two years":         {about(domain, "receiver.example", "2", 731, record("192.0.2.1", 1, "none", true, true)), intake.Result{Found: 1, Unusable: 1}},
			"in the future":                {about(domain, "receiver.example", "2", -3, record("192.0.2.1", 1, "none", true, true)), intake.Result{Found: 1, Unusable: 1}},
			"until the year 9999":          {until(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)), intake.Result{Found: 1, Unusable: 1}},
			"with a middle in the future":  {until(figures.AddDays(now, 9)), intake.Result{Found: 1, Unusable: 1}},
		} {
			if got := w.read(t, tc.of); got != tc.want {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if after := w.figuresOf(t); after != before {
			t.Errorf("the figures changed:\n%s\n%s", before, after)
		}
		again := first
		again.report.Begin, again.report.End = first.report.Begin.AddDate(0, 0, 1), first.report.End.AddDate(0, 0, 1)
		if got := w.read(t, again); got.Reports != 1 {
			t.Errorf("the same id for another day: %+v", got)
		}
		if _, err := w.db.DomainAuth().Domain(t.Context(), other, domain); !core.IsNotFound(err) {
			t.Errorf("another organization sees the domain: %v", err)
		}
	})
}

// TestFiguresByLoops compares the figures with loops over drawn reports, read in any order and
// in batches of any size.
func TestFiguresByLoops(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ips := []string{"192.0.2.1", "192.0.2.200", "198.51.100.7", "203.0.113.9", "2001:db8::1"}
		rapid.Check(t, func(rt *rapid.T) {
			w := &world{db: db, reader: newReader(db, db.DMARCReports())}
			own := core.NewID()
			name := own[:8] + ".example"
			if err := db.DMARCReports().AddDomain(t.Context(), own, name, now); err != nil {
				rt.Fatal(err)
			}
			d, err := db.DomainAuth().Domain(t.Context(), own, name)
			if err != nil {
				rt.Fatal(err)
			}
			w.domain = d
			want := map[string]domainauth.Day{}
			total := int64(0)
			batch := w.reader.Batch()
			for i := range rapid.IntRange(1, 8).Draw(rt, "reports") {
				daysAgo := rapid.IntRange(1, 40).Draw(rt, "days ago")
				var records []report.Record
				for range rapid.IntRange(0, 5).Draw(rt, "records") {
					records = append(records, record(rapid.SampledFrom(ips).Draw(rt, "ip"), uint64(rapid.IntRange(1, 1000).Draw(rt, "n")),
						rapid.SampledFrom([]string{"none", "quarantine", "reject"}).Draw(rt, "disposition"), rapid.Bool().Draw(rt, "dkim"), rapid.Bool().Draw(rt, "spf")))
				}
				of := about(name, "receiver.example", fmt.Sprint(i), daysAgo, records...)
				day := of.report.Begin.Format(time.DateOnly)
				expect := want[day]
				expect.Date = of.report.Begin
				for _, r := range records {
					count(&expect, r)
					total += int64(r.Count)
				}
				want[day] = expect
				if _, err := batch.Add(t.Context(), intake.Target{OrgID: own, Addressed: name, ReceivedAt: now}, of.open); err != nil {
					rt.Fatal(err)
				}
				if rapid.Bool().Draw(rt, "flush") {
					if err := batch.Flush(t.Context()); err != nil {
						rt.Fatal(err)
					}
				}
			}
			if err := batch.Flush(t.Context()); err != nil {
				rt.Fatal(err)
			}
			w.compare(rt, own, want, total)
		})
	})
}

func count(d *domainauth.Day, r report.Record) {
	n := int64(r.Count)
	switch {
	case r.DKIM && r.SPF:
		d.Both += n
	case r.DKIM:
		d.DKIMOnly += n
	case r.SPF:
		d.SPFOnly += n
	default:
		d.Failing += n
	}
	switch r.Disposition {
	case "quarantine":
		d.Quarantined += n
	case "reject":
		d.Rejected += n
	default:
		d.None += n
	}
}

func (w *world) compare(rt *rapid.T, own string, want map[string]domainauth.Day, total int64) {
	ctx := context.Background()
	days, err := w.db.DomainAuth().Totals(ctx, own, w.domain.ID, all)
	if err != nil {
		rt.Fatal(err)
	}
	if len(days) != len(want) {
		rt.Fatalf("%d days, want %d", len(days), len(want))
	}
	for _, d := range days {
		if d != want[d.Date.Format(time.DateOnly)] {
			rt.Fatalf("day %+v, want %+v", d, want[d.Date.Format(time.DateOnly)])
		}
	}
	rows, err := w.db.DomainAuth().Rows(ctx, own, w.domain.ID, all)
	if err != nil {
		rt.Fatal(err)
	}
	byRows := int64(0)
	for _, r := range rows {
		byRows += r.Messages
	}
	listed, _, err := w.db.DomainAuth().Sources(ctx, own, w.domain.ID, domainauth.SourceFilter{Days: all}, nil, 100)
	if err != nil {
		rt.Fatal(err)
	}
	bySources := int64(0)
	for _, s := range listed {
		bySources += s.MessageCount
	}
	if byRows != total || bySources != total {
		rt.Fatalf("rows have %d messages, sources %d, want %d", byRows, bySources, total)
	}
}

// failing is a store whose AddRows fails after a number of calls.
type failing struct {
	intake.Store
	after int
}

var errFailing = errors.New("the machine stopped")

func (f *failing) AddRows(ctx context.Context, orgID string, rows []intake.Row) error {
	if f.after--; f.after < 0 {
		return errFailing
	}
	return f.Store.AddRows(ctx, orgID, rows)
}

func large(id string) written {
	records := make([]report.Record, 5000)
	for i := range records {
		records[i] = record(fmt.Sprintf("198.51.%d.%d", i%200, i%250), 1, "none", i%3 == 0, i%2 == 0)
	}
	return about(domain, "receiver.example", id, 3, records...)
}

func TestInterruptedReportsCountOnceWhole(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := setup(t, db)
		for after := range 3 {
			broken := newReader(db, &failing{db.DMARCReports(), after})
			_, err := broken.Read(t.Context(), intake.Target{OrgID: org, Addressed: domain, ReceivedAt: now}, large("1").open)
			if !errors.Is(err, errFailing) {
				t.Fatalf("after %d: %v", after, err)
			}
			if totals, err := db.DomainAuth().Totals(t.Context(), org, w.domain.ID, all); err != nil || len(totals) != 0 {
				t.Fatalf("after %d: an interrupted report counts: %v, %v", after, totals, err)
			}
			if registered, err := db.DomainAuth().Registry(t.Context(), org, w.domain.ID); err != nil || len(registered) != 0 {
				t.Fatalf("after %d: its sources are registered: %v, %v", after, registered, err)
			}
		}
		if got := w.read(t, large("1")); got.Reports != 1 || got.Messages != 5000 {
			t.Fatalf("%+v", got)
		}
		once := w.figuresOf(t)
		if got := w.read(t, large("1")); got.Duplicates != 1 || w.figuresOf(t) != once {
			t.Fatalf("%+v", got)
		}
		if rows, err := db.DMARCReports().CountRows(t.Context(), org, w.domain.ID); err != nil || rows != 5000 {
			t.Errorf("%d records, %v", rows, err)
		}
	})
}

func TestConcurrentReadersCountOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := setup(t, db)
		var reports []written
		for i := range 12 {
			reports = append(reports, about(domain, "receiver.example", fmt.Sprint(i), 1+i%3,
				record("192.0.2.1", 1, "none", true, true), record(fmt.Sprintf("198.51.%d.7", i%4), 1, "none", false, false)))
		}
		var readers sync.WaitGroup
		counted := make([]intake.Result, 4)
		for n := range counted {
			readers.Go(func() {
				for _, of := range reports {
					result, err := w.reader.Read(t.Context(), intake.Target{OrgID: org, Addressed: domain, ReceivedAt: now}, of.open)
					if err != nil {
						t.Error(err)
					}
					counted[n].Reports += result.Reports
					counted[n].Duplicates += result.Duplicates
				}
			})
		}
		readers.Wait()
		sums := intake.Result{}
		for _, c := range counted {
			sums.Reports, sums.Duplicates = sums.Reports+c.Reports, sums.Duplicates+c.Duplicates
		}
		if sums.Reports != 12 || sums.Duplicates != 36 {
			t.Errorf("%+v", sums)
		}
		days, err := db.DomainAuth().Totals(t.Context(), org, w.domain.ID, all)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, d := range days {
			sum += d.Both + d.Failing
		}
		if sum != 24 {
			t.Errorf("%d messages: %v", sum, days)
		}
		sources, err := db.DomainAuth().Registry(t.Context(), org, w.domain.ID)
		if err != nil || len(sources) != 5 {
			t.Errorf("%d sources: %v, %v", len(sources), sources, err)
		}
	})
}

func TestOrderOfReportsDoesNotMatter(t *testing.T) {
	t.Parallel()
	reports := []written{
		about(domain, "a.example", "1", 40, record("192.0.2.1", 3, "none", false, true)),
		about(domain, "b.example", "1", 5, record("192.0.2.1", 5, "none", false, false)),
		about(domain, "a.example", "2", 2, record("192.0.2.1", 7, "none", true, true)),
	}
	states := map[string]bool{}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		w := setup(t, storagetest.SQLite(t))
		for _, i := range order {
			w.read(t, reports[i])
		}
		states[w.figuresOf(t)] = true
	}
	if len(states) != 1 {
		t.Errorf("different figures: %v", slices.Collect(maps.Keys(states)))
	}
}
