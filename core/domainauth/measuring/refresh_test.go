package measuring_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

const reject = "v=DMARC1; p=reject; rua=mailto:r@bakery.example"

func TestMain(m *testing.M) {
	enginetest.ReduceRandomCases()
	os.Exit(m.Run())
}

// ids returns the ids of events by when they occurred and their titles.
func (w *world) ids() map[string]string {
	w.t.Helper()
	found, err := w.db.DomainAuth().Events(w.t.Context(), w.org, w.id(), domainauth.EventFilter{Limit: 10_000})
	w.must(err)
	all := map[string]string{}
	for _, e := range found {
		all[hours(e.OccurredAt)+" "+e.Title] = e.ID
	}
	return all
}

// TestReportsAndPollsAreOneEvent checks that a change that DNS and reports show is one event with
// one id, also when a reporter is late, and that events of people stay.
func TestReportsAndPollsAreOneEvent(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		note := domainauth.Event{ID: "note", Kind: "note", OccurredAt: start, ObservedAt: start, Title: "A person wrote this"}
		w.must(db.DomainAuth().InsertEvent(t.Context(), w.org, w.id(), note, "somebody"))
		w.zone.AddTXT(policyName, none)
		w.poll()
		w.addReport("google.com", "v=DMARC1; p=none", -1)
		w.zone.SetTXT(policyName, quarantine)
		w.Advance(time.Hour)
		w.poll()
		w.refresh()
		want := []string{"note  0 0: A person wrote this", "policy_change dns 1 1: The policy went from none to quarantine"}
		if d := cmp.Diff(want, w.events()); d != "" {
			t.Error(d)
		}
		ids := w.ids()
		w.addReport("google.com", "v=DMARC1; p=quarantine", 1)
		w.addReport("yahoo.example", "v=DMARC1; p=none", -1)
		w.addReport("yahoo.example", "v=DMARC1; p=quarantine", 20)
		w.refresh()
		want[1] = "policy_change dns 1 3: The policy went from none to quarantine"
		if d := cmp.Diff(want, w.events()); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(ids, w.ids()); d != "" {
			t.Errorf("ids: %s", d)
		}
		w.refresh()
		if d := cmp.Diff(want, w.events()); d != "" {
			t.Errorf("again: %s", d)
		}
	})
}

// TestEventsGo checks that an event whose evidence was deleted is no more.
func TestEventsGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.addReport("google.com", "v=DMARC1; p=none", -5)
	w.addReport("google.com", "v=DMARC1; p=reject", -4)
	w.refresh()
	if got := w.events(); len(got) != 1 {
		t.Fatalf("%v", got)
	}
	w.exec(`DELETE FROM domainauth_reports WHERE org_id = $1`, w.org)
	w.refresh()
	if got := w.events(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// texts of the drawn histories. An empty text is no record.
var (
	policyTexts = []string{"", none, quarantine, reject, none + "; fo=1", quarantine + "; sp=none"}
	spfTexts    = []string{"", "v=spf1 -all", "v=spf1 mx -all"}
)

// drawnRecord is a record with what a plain loop knows of its polls.
type drawnRecord struct {
	name, kind string
	texts      []string
	text       string

	seen bool
	last string
	runs []string
}

// poll notes an answer to a poll in the way of a plain loop, and returns an event or "".
func (r *drawnRecord) poll(at string) string {
	shown, change := r.text, ""
	if shown == "" {
		shown = "none"
	}
	if r.seen && r.last != shown {
		change = fmt.Sprintf("%s %s: %s > %s", r.kind, at, r.last, shown)
	}
	if !r.seen || r.last != shown {
		r.runs = append(r.runs, fmt.Sprintf("%s %s %s ", r.name, shown, at))
	}
	r.seen, r.last = true, shown
	i := len(r.runs) - 1
	fields := strings.Split(r.runs[i], " until ")
	r.runs[i] = fields[0] + " until " + at
	return change
}

// TestDrawnHistories compares runs and events with those of a plain loop, for drawn texts, polls
// and outages, with refreshes at any time.
func TestDrawnHistories(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, db)
		records := []*drawnRecord{{name: policyName, kind: "policy_change", texts: policyTexts}, {name: domainName, kind: "setup_change", texts: spfTexts}}
		var want []string
		ids := map[string]string{}
		for range rapid.IntRange(1, 25).Draw(rt, "polls") {
			w.zone.Mend()
			for _, r := range records {
				if rapid.IntRange(0, 2).Draw(rt, "changes") == 0 {
					r.text = rapid.SampledFrom(r.texts).Draw(rt, r.name)
					w.zone.SetTXT(r.name, slices.DeleteFunc([]string{r.text}, func(s string) bool { return s == "" })...)
				}
			}
			at := hours(w.Now())
			for _, r := range records {
				if rapid.IntRange(0, 3).Draw(rt, "outage") == 0 {
					w.zone.Break(r.name)
				} else if change := r.poll(at); change != "" {
					want = append(want, change)
				}
			}
			w.must(w.measuring.PollDue(t.Context()))
			if rapid.Bool().Draw(rt, "refreshes") {
				w.refresh()
				now := w.ids()
				for event, id := range ids {
					if now[event] != id {
						rt.Fatalf("%s had the id %s, now %s", event, id, now[event])
					}
				}
				ids = now
			}
			w.Advance(w.measureAt().Sub(w.Now()))
		}
		w.refresh()
		if d := cmp.Diff(want, w.changes()); d != "" {
			rt.Fatalf("events: %s", d)
		}
		if d := cmp.Diff(append(records[0].runs, records[1].runs...), w.polledRuns()); d != "" {
			rt.Fatalf("runs: %s", d)
		}
	})
}

// changes returns the events with their texts, in the order of the plain loop.
func (w *world) changes() []string {
	w.t.Helper()
	found, err := w.db.DomainAuth().Events(w.t.Context(), w.org, w.id(), domainauth.EventFilter{Limit: 10_000})
	w.must(err)
	slices.SortFunc(found, func(a, b domainauth.Event) int {
		if c := a.OccurredAt.Compare(b.OccurredAt); c != 0 {
			return c
		}
		return strings.Compare(string(a.Kind), string(b.Kind))
	})
	var all []string
	for _, e := range found {
		if e.Sightings != 1 || !e.ObservedAt.Equal(e.OccurredAt) {
			w.t.Errorf("%+v", e)
		}
		all = append(all, fmt.Sprintf("%s %s: %s > %s", e.Kind, hours(e.OccurredAt), text(e.OldRecord), text(e.NewRecord)))
	}
	return all
}

// polledRuns returns the runs of the drawn records in the form of the plain loop.
func (w *world) polledRuns() []string {
	w.t.Helper()
	found, err := w.db.DomainMeasuring().RecordRuns(w.t.Context(), w.ref())
	w.must(err)
	var all []string
	for _, r := range found {
		if r.Subject == policyName || r.Subject == domainName {
			all = append(all, fmt.Sprintf("%s %s %s  until %s", r.Subject, text(r.Text), hours(r.First), hours(r.Last)))
		}
	}
	return all
}

// TestFindings checks that findings of all sources are computed from their own days, open, close,
// and keep whether they were announced.
func TestFindings(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		good, bad := w.addSource("own", "own"), w.addSource("net/192.0.2.0/24", "spoofing")
		for n := -30; n < -20; n++ {
			w.addFigures(good, n, 1000, 0)
			w.addFigures(bad, n, 0, 50)
		}
		w.refresh()
		if d := cmp.Diff([]string{"failing_volume 2026-01-31-open false"}, w.findings()); d != "" {
			t.Error(d)
		}
		w.exec(`UPDATE domainauth_findings SET announced = TRUE WHERE org_id = $1`, w.org)
		w.refresh()
		if d := cmp.Diff([]string{"failing_volume 2026-01-31-open true"}, w.findings()); d != "" {
			t.Errorf("again: %s", d)
		}
		for n := -20; n < -10; n++ {
			w.addFigures(good, n, 1000, 0)
		}
		w.refresh()
		if d := cmp.Diff([]string{"failing_volume 2026-01-31-2026-02-15 true"}, w.findings()); d != "" {
			t.Errorf("without messages: %s", d)
		}
		// A report of an earlier day comes late: the finding opened earlier, and was announced.
		w.addFigures(bad, -31, 0, 100)
		w.refresh()
		if d := cmp.Diff([]string{"failing_volume 2026-01-29-2026-02-15 true"}, w.findings()); d != "" {
			t.Errorf("after a late report: %s", d)
		}
		w.exec(`DELETE FROM domainauth_sources WHERE org_id = $1`, w.org)
		w.refresh()
		if got := w.findings(); len(got) > 0 {
			t.Errorf("without sources: %v", got)
		}
	})
}

// TestFindingsOutliveTheirFirstDays checks that a finding which has been open for longer than
// figures are kept keeps its day.
func TestFindingsOutliveTheirFirstDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	bad := w.addSource("net/192.0.2.0/24", "spoofing")
	for n := -735; n < 0; n += 7 {
		w.addFigures(bad, n, 0, 500)
	}
	w.refresh()
	want := []string{"failing_volume 2024-02-25-open true"}
	w.exec(`UPDATE domainauth_findings SET announced = TRUE WHERE org_id = $1`, w.org)
	for range 5 {
		w.Advance(7 * 24 * time.Hour)
		w.must(w.measuring.Purge(t.Context(), w.org))
		w.refresh()
		if d := cmp.Diff(want, w.findings()); d != "" {
			t.Error(d)
		}
	}
	if n := w.count("domainauth_daily"); n != 105-6 {
		t.Errorf("%d rows are left", n)
	}
}

// due returns how many domains are due.
func (w *world) due() int {
	w.t.Helper()
	due, err := w.db.DomainMeasuring().DomainsToRefresh(w.t.Context(), w.Now(), w.Now().Add(-10*time.Minute), 10)
	w.must(err)
	return len(due)
}

// reportDue makes the refresh due as a report does.
func (w *world) reportDue() {
	w.t.Helper()
	w.exec(`UPDATE domainauth_domains SET refresh_at = CASE WHEN refresh_at < $1 THEN refresh_at ELSE $1 END WHERE org_id = $2`, micro(w.Now()), w.org)
}

// during is a store that does something else while a domain is refreshed.
type during struct {
	measuring.RefreshStore

	do func() error
}

func (d during) RecordRuns(ctx context.Context, ref measuring.DomainRef) ([]measuring.Run, error) {
	if err := d.do(); err != nil {
		return nil, err
	}
	return d.RefreshStore.RecordRuns(ctx, ref)
}

// refreshDuring refreshes what is due, and does something in between.
func (w *world) refreshDuring(do func() error) error {
	cfg := w.config()
	cfg.Refreshes = during{RefreshStore: w.db.DomainMeasuring(), do: do}
	return measuring.New(cfg).RefreshDue(w.t.Context())
}

func TestRefreshIsDue(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		if n := w.due(); n != 0 {
			t.Errorf("%d domains are due without news", n)
		}
		w.reportDue()
		ran := 0
		w.must(w.refreshDuring(func() error {
			ran++
			if n := w.due(); n != 0 {
				t.Error("a domain that is refreshed now is due")
			}
			w.Advance(time.Second)
			w.reportDue()
			return nil
		}))
		if n := w.due(); n != 0 || ran != 1 {
			t.Errorf("%d domains are due within ten minutes, %d refreshes", n, ran)
		}
		w.Advance(10 * time.Minute)
		if n := w.due(); n != 1 {
			t.Error("the report that came during the refresh was lost")
		}
		boom := errors.New("the process ends")
		if err := w.refreshDuring(func() error { return boom }); !errors.Is(err, boom) {
			t.Errorf("%v", err)
		}
		if n := w.due(); n != 0 {
			t.Error("due just after a failure")
		}
		w.Advance(10 * time.Minute)
		w.must(w.refreshDuring(func() error { ran++; return nil }))
		w.Advance(time.Hour)
		if n := w.due(); n != 0 || ran != 2 {
			t.Errorf("%d domains are due after the second refresh, %d refreshes", n, ran)
		}
	})
}

// TestSlowerRefreshChangesNothing checks that a refresh that was asked for during another one
// wins, because it has later data.
func TestSlowerRefreshChangesNothing(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.reportDue()
		source := ""
		w.must(w.refreshDuring(func() error {
			w.Advance(time.Second)
			source = w.addSource("net/192.0.2.0/24", "spoofing")
			w.addFigures(source, -3, 0, 500)
			w.refresh()
			return nil
		}))
		if got := w.findings(); len(got) != 1 {
			t.Errorf("%v", got)
		}
	})
}

func TestPurge(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		old, kept := w.addSource("old", "unknown"), w.addSource("decided", "unknown")
		recent := w.addSource("recent", "unknown")
		w.exec(`UPDATE domainauth_sources SET last_day = $1, decision = CASE WHEN id = $2 THEN 'confirmed' ELSE decision END WHERE org_id = $3`, day(-800), kept, w.org)
		w.exec(`UPDATE domainauth_sources SET last_day = $1 WHERE org_id = $2 AND id = $3`, day(-1), w.org, recent)
		for n := -760; n <= 0; n += 5 {
			w.addFigures(old, n, 1, 1)
			w.addReport("google.com", none, n)
			w.exec(`INSERT INTO domainauth_reporter_days (org_id, domain_id, day, reporter) VALUES ($1, $2, $3, 'google.com')`, w.org, w.id(), day(n))
		}
		id := w.id()
		w.execEach(5000, `INSERT INTO domainauth_rows (org_id, domain_id, day, report, n, source, ip, messages, disposition, dkim, spf, relayed, header_from, envelope_from, details)
			VALUES ($1, $2, $3, $4, $5, '', '', 1, 'none', FALSE, FALSE, FALSE, '', '', '')`,
			func(i int) []any { return []any{w.org, id, day(-i / 25), fmt.Sprint(i % 7), i} }) // of 200 days
		for i, at := range []int{-800, -740, -735} { // the last text of a record stays, however old
			w.exec(`INSERT INTO domainauth_records (org_id, domain_id, subject, first_seen_at, last_seen_at, kind, text) VALUES ($1, $2, 'gone', $3, $4, 'setup_change', $5)`,
				w.org, w.id(), micro(start.AddDate(0, 0, at)), micro(start.AddDate(0, 0, at)), fmt.Sprint(i))
		}
		w.must(w.measuring.Purge(t.Context(), w.org))
		for table, want := range map[string]int{
			"domainauth_rows": 90 * 25, "domainauth_daily": 147, "domainauth_totals": 147, "domainauth_reporter_days": 147, "domainauth_reports": 147,
			"domainauth_sources": 2, "domainauth_records": 1, "domainauth_domains": 1,
		} {
			if got := w.count(table); got != want {
				t.Errorf("%s has %d rows, want %d", table, got, want)
			}
		}
		if n := w.due(); n != 1 {
			t.Error("the domain is not due")
		}
		w.must(w.measuring.RefreshDue(t.Context()))
		w.Advance(time.Hour)
		w.must(w.measuring.Purge(t.Context(), w.org))
		if n := w.due(); n != 0 {
			t.Error("a purge without effect makes the domain due")
		}
	})
}
