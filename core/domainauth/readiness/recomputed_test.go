package readiness_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"pgregory.net/rapid"
)

// raw is a record of a report: what a table of all records would have in one row.
type raw struct {
	reporter           string
	begin, end         time.Time
	source             string
	aligned, relayed   bool
	messages           int64
	withoutAnyMessages bool
}

var (
	decisions = []figures.Decision{"", figures.Confirmed, figures.Rejected, figures.Unreviewed}
	classes   = []figures.Classification{"", figures.Own, figures.Authorised, figures.Forwarder, figures.Spoofing, figures.Unknown}
	ids       = []string{"a", "b", "c", "d", "e", "unregistered"}
)

// drawHistory draws records of reports of about five weeks and registered sources. Some
// reports span midnight, some have no messages, and some days have none.
func drawHistory(t *rapid.T) ([]raw, []readiness.Source) {
	rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) raw {
		begin := daysAgo(rapid.IntRange(-1, 33).Draw(t, "days ago")).Add(time.Duration(rapid.IntRange(0, 23).Draw(t, "hour")) * time.Hour)
		return raw{
			reporter: rapid.SampledFrom([]string{"google.com", "yahoo.com", "gmx.net", "mail.ru"}).Draw(t, "reporter"),
			begin:    begin, end: begin.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "hours")) * time.Hour),
			source: rapid.SampledFrom(ids).Draw(t, "source"), aligned: rapid.Bool().Draw(t, "aligned"), relayed: rapid.Bool().Draw(t, "relay"),
			messages:           rapid.OneOf(rapid.Int64Range(0, 40), rapid.SampledFrom([]int64{99, 100, 101, 300, 1000})).Draw(t, "messages"),
			withoutAnyMessages: rapid.Bool().Draw(t, "empty"),
		}
	}), 0, 60).Draw(t, "records")
	var sources []readiness.Source
	for _, id := range ids[:5] {
		s := source(id, rapid.SampledFrom(decisions).Draw(t, "decision "+id), rapid.SampledFrom(classes).Draw(t, "class "+id))
		s.FirstSeen = daysAgo(rapid.IntRange(27, 33).Draw(t, "first seen "+id))
		sources = append(sources, s)
	}
	return rows, sources
}

// rolledUp returns the figures of records, as storage adds them by day, source and outcome.
func rolledUp(t *rapid.T, records []raw, sources []readiness.Source) readiness.Figures {
	f := readiness.Figures{Now: now, Sources: sources, ReportAddress: "reports@in.example.net", PolicySince: daysAgo(40)}
	sums := map[figures.Row]int64{}
	for _, r := range records {
		first, last := figures.DaysOfReport(r.begin, r.end)
		for d := first; !d.After(last); d = figures.AddDays(d, 1) {
			f.Coverage = append(f.Coverage, readiness.Coverage{Day: d, Reporter: r.reporter})
		}
		if !r.withoutAnyMessages {
			sums[figures.Row{Day: figures.DayOfReport(r.begin, r.end), Source: r.source, Aligned: r.aligned, RelayBroken: r.relayed}] += r.messages
		}
	}
	for row, n := range sums {
		row.Messages = n
		f.Rows = append(f.Rows, row)
	}
	seed := rapid.Uint64().Draw(t, "order")
	shuffle := rand.New(rand.NewPCG(seed, seed))
	shuffle.Shuffle(len(f.Rows), func(i, j int) { f.Rows[i], f.Rows[j] = f.Rows[j], f.Rows[i] })
	shuffle.Shuffle(len(f.Coverage), func(i, j int) { f.Coverage[i], f.Coverage[j] = f.Coverage[j], f.Coverage[i] })
	return f
}

// recount computes each figure from the records with plain loops.
type recount struct {
	records []raw
	sources []readiness.Source
}

// inWindow returns the day of the window to which the messages of a record count, from 30
// for the first to 1 for the last one, and whether there is one.
func inWindow(r raw) (int, bool) {
	middle := r.begin.Add(r.end.Sub(r.begin) / 2)
	for n := 1; n <= 30; n++ {
		if !middle.Before(daysAgo(n)) && middle.Before(daysAgo(n-1)) {
			return n, true
		}
	}
	return 0, false
}

func (c recount) messages(counts func(raw, figures.Source) bool) int64 {
	var n int64
	for _, r := range c.records {
		if _, ok := inWindow(r); ok && !r.withoutAnyMessages && counts(r, c.source(r.source)) {
			n += r.messages
		}
	}
	return n
}

func (c recount) source(id string) figures.Source {
	found := figures.Source{ID: id, Decision: figures.Unreviewed, Classification: figures.Unknown}
	for _, s := range c.sources {
		if s.ID == id {
			found = s.Source
		}
	}
	if found.Decision == "" {
		found.Decision = figures.Unreviewed
	}
	if found.Classification == "" {
		found.Classification = figures.Unknown
	}
	return found
}

// covered returns the covered days, and the reporters about a day of the window.
func (c recount) covered() (days, reporters int64) { //nolint:nonamedreturns // says which is which
	seen := map[string]bool{}
	for n := 1; n <= 30; n++ {
		isCovered := false
		for _, r := range c.records {
			from, to := daysAgo(n), daysAgo(n-1)
			overlap := min(r.end.Unix(), to.Unix()) - max(r.begin.Unix(), from.Unix())
			if day, ok := inWindow(r); ok && day == n || overlap > 12*60*60 {
				isCovered, seen[r.reporter] = true, true
			}
		}
		if isCovered {
			days++
		}
	}
	return days, int64(len(seen))
}

// sends reports whether a source sends for the domain.
func sends(s figures.Source) bool {
	wanted := s.Decision == figures.Confirmed || s.Decision == figures.Unreviewed && (s.Classification == figures.Own || s.Classification == figures.Authorised)
	return wanted && s.Classification != figures.Forwarder
}

// perSource returns, for each source, its aligned, repairable and relay-broken messages.
func (c recount) perSource() map[string][3]int64 {
	all := map[string][3]int64{}
	for _, id := range ids {
		of := func(aligned, relayed bool) int64 {
			return c.messages(func(r raw, _ figures.Source) bool {
				return r.source == id && r.aligned == aligned && (aligned || r.relayed == relayed)
			})
		}
		if sums := [3]int64{of(true, false), of(false, false), of(false, true)}; sums != [3]int64{} {
			all[id] = sums
		}
	}
	return all
}

// TestFiguresEqualPlainLoops computes every value of drawn histories a second time.
func TestFiguresEqualPlainLoops(t *testing.T) {
	t.Parallel()
	none := published(t, atNone)
	quarantine := published(t, atQuarantine)
	rapid.Check(t, func(rt *rapid.T) {
		records, sources := drawHistory(rt)
		f := rolledUp(rt, records, sources)
		f.Published = none
		reject := rapid.Bool().Draw(rt, "reject rung")
		if reject {
			f.Published = quarantine
		}
		a := readiness.Assess(f)
		c := recount{records, sources}
		values, met := c.criteria(reject)
		got := map[readiness.Name]figures.Ratio{}
		for _, criterion := range a.Criteria {
			got[criterion.Name] = criterion.Value
			if criterion.Met != met[criterion.Name] {
				rt.Fatalf("%s: met %t, value %v", criterion.Name, criterion.Met, criterion.Value)
			}
			if value, _ := criterion.Value.Float(); math.IsNaN(value) || math.IsInf(value, 0) {
				rt.Fatalf("%s is %v", criterion.Name, value)
			}
		}
		if d := cmp.Diff(values, got); d != "" {
			rt.Fatal(d)
		}
		impact := c.impact()
		if d := cmp.Diff(impact, a.Impact); d != "" {
			rt.Fatal(d)
		}
		all := !slices.ContainsFunc(a.Criteria, func(criterion readiness.Criterion) bool {
			return criterion.Name != readiness.PassRate && !met[criterion.Name]
		})
		if a.PendingAcknowledgement != (all && impact.RelayBroken > 0) || a.Ready != (all && impact.RelayBroken == 0) {
			rt.Fatalf("ready %t, pending %t, all met %t, cost %d", a.Ready, a.PendingAcknowledgement, all, impact.RelayBroken)
		}
	})
}

// criteria returns the value of each criterion, and whether it is met.
func (c recount) criteria(reject bool) (map[readiness.Name]figures.Ratio, map[readiness.Name]bool) {
	days, reporters := c.covered()
	total := c.messages(func(raw, figures.Source) bool { return true })
	aligned := c.messages(func(r raw, _ figures.Source) bool { return r.aligned })
	budget := c.messages(func(r raw, s figures.Source) bool {
		return !r.aligned && !r.relayed && s.Decision == figures.Confirmed
	})
	var unaligned, fresh int64
	alone := false
	for id, sums := range c.perSource() {
		s := c.source(id)
		if sends(s) && sums[0] == 0 && sums[1] > 0 {
			unaligned++
		}
		alone = alone || s.Decision == figures.Unreviewed && sums[1]+sums[2] >= 100
		if id == "unregistered" {
			fresh++
		}
	}
	for _, s := range c.sources {
		if known := c.source(s.ID); known.Decision == figures.Unreviewed && known.Classification == figures.Unknown && !s.FirstSeen.Before(daysAgo(30)) {
			fresh++
		}
	}
	values := map[readiness.Name]figures.Ratio{
		readiness.CoverageDays: {Part: days, Whole: 1}, readiness.MessageVolume: {Part: total, Whole: 1}, readiness.DistinctProviders: {Part: reporters, Whole: 1},
		readiness.PassRate: {Part: aligned, Whole: total}, readiness.AcceptableImpact: {Part: budget, Whole: days}, readiness.NoUnalignedSending: {},
	}
	if days > 0 {
		values[readiness.NoUnalignedSending] = figures.Ratio{Part: unaligned, Whole: 1}
	}
	met := map[readiness.Name]bool{
		readiness.CoverageDays: days >= 14, readiness.MessageVolume: total >= 1000, readiness.DistinctProviders: reporters >= 3,
		readiness.PassRate: total > 0, readiness.NoUnalignedSending: days > 0 && unaligned == 0, readiness.AcceptableImpact: days > 0 && budget <= 10*days && !alone,
	}
	if reject {
		values[readiness.TimeAtCurrentPolicy], met[readiness.TimeAtCurrentPolicy] = figures.Ratio{Part: 40, Whole: 1}, true
		values[readiness.NoNewUnknownSources], met[readiness.NoNewUnknownSources] = figures.Ratio{}, days > 0 && fresh == 0
		if days > 0 {
			values[readiness.NoNewUnknownSources] = figures.Ratio{Part: fresh, Whole: 1}
		}
	}
	return values, met
}

// impact returns the impact.
func (c recount) impact() readiness.Impact {
	days, _ := c.covered()
	wanted := func(_ raw, s figures.Source) bool { return s.Decision != figures.Rejected }
	failing := c.messages(func(r raw, s figures.Source) bool { return !r.aligned && wanted(r, s) })
	i := readiness.Impact{
		Completeness:          figures.Ratio{Part: days, Whole: 30},
		FailingMessagesPerDay: figures.Ratio{Part: failing, Whole: days},
		RelayBroken:           c.messages(func(r raw, s figures.Source) bool { return !r.aligned && r.relayed && wanted(r, s) }),
	}
	sums := c.perSource()
	for _, id := range ids {
		s, ok := sums[id]
		if !ok {
			continue
		}
		who := c.source(id)
		if sends(who) {
			i.AlignmentBreadth.Whole++
			if s[1] == 0 {
				i.AlignmentBreadth.Part++
			}
		}
		if n := s[1] + s[2]; n > 0 && who.Decision != figures.Rejected {
			i.Sources = append(i.Sources, readiness.SourceImpact{
				Source: who, Failing: n, RelayBroken: s[2], Share: figures.Ratio{Part: n, Whole: failing}, Blocks: who.Decision == figures.Unreviewed && n >= 100,
			})
		}
	}
	// Insertion sort: the sources are in the order of their ids.
	for n := range i.Sources {
		for m := n; m > 0 && i.Sources[m-1].Failing < i.Sources[m].Failing; m-- {
			i.Sources[m-1], i.Sources[m] = i.Sources[m], i.Sources[m-1]
		}
	}
	return i
}
