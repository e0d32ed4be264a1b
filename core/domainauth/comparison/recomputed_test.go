package comparison_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/comparison"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"pgregory.net/rapid"
)

// drawInput draws a history of about two months around a change.
func drawInput(t *rapid.T) comparison.Input {
	hours := rapid.IntRange(-35*24, 40*24)
	in := comparison.Input{
		Now:        changeAt.Add(time.Duration(rapid.IntRange(0, 50*24).Draw(t, "now")) * time.Hour),
		Change:     change("it", timeline.PolicyChange, day(20).Add(time.Duration(rapid.IntRange(0, 24).Draw(t, "hour"))*time.Hour)),
		WindowDays: rapid.SampledFrom([]int{0, 7, 8, 14, 21, 30}).Draw(t, "window"),
		Sources: []figures.Source{
			{ID: "a", Decision: figures.Confirmed, Classification: figures.Own},
			{ID: "b", Decision: figures.Rejected, Classification: figures.Spoofing},
			{ID: "c", Decision: figures.Confirmed, Classification: figures.Own},
		},
	}
	if rapid.Bool().Draw(t, "retention") {
		in.KeptFrom = changeAt.Add(time.Duration(hours.Draw(t, "kept from")) * time.Hour)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "other events") {
		kind := rapid.SampledFrom([]timeline.Kind{timeline.PolicyChange, timeline.SetupChange, timeline.Note}).Draw(t, "kind")
		in.Events = append(in.Events, change(fmt.Sprint("e", i), kind, changeAt.Add(time.Duration(hours.Draw(t, "at"))*time.Hour)))
	}
	for n := -20; n <= 60; n++ {
		if rapid.IntRange(0, 9).Draw(t, "covered") > 0 {
			in.Covered = append(in.Covered, day(n))
		}
	}
	in.Rows = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) figures.Row {
		return figures.Row{
			Day: day(rapid.IntRange(-20, 60).Draw(t, "day")).Add(time.Duration(rapid.IntRange(0, 23).Draw(t, "hour")) * time.Hour), Source: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "source"),
			Aligned: rapid.Bool().Draw(t, "aligned"), Messages: rapid.Int64Range(-1, 60).Draw(t, "messages"),
		}
	}), 0, 80).Draw(t, "rows")
	return in
}

// recount computes a side with plain loops: from is its first day, and n the number of its
// days.
func recount(in comparison.Input, from time.Time, n int) (comparison.Side, map[time.Time]comparison.Reason) {
	side := comparison.Side{From: from, To: from.Add(time.Duration(n) * 24 * time.Hour)}
	reasons := map[time.Time]comparison.Reason{}
	for i := range n {
		begin := from.Add(time.Duration(i) * 24 * time.Hour)
		end := begin.Add(24 * time.Hour)
		inside := func(t time.Time) bool { return !t.Before(begin) && t.Before(end) }
		covered, guarded := false, false
		for _, d := range in.Covered {
			covered = covered || inside(d)
		}
		for _, row := range in.Rows {
			covered = covered || inside(row.Day) && row.Messages > 0
		}
		window := figures.DayOf(in.Change.OccurredAt).Add(-time.Duration(n) * 24 * time.Hour)
		for _, e := range in.Events {
			if e.Kind != timeline.Note && e.OccurredAt.Before(window) && begin.Before(e.OccurredAt.Add(48*time.Hour)) {
				guarded = true
			}
		}
		switch {
		case end.After(in.Now):
			reasons[begin] = comparison.Present
		case begin.Before(in.KeptFrom):
			reasons[begin] = comparison.Retention
		case guarded:
			reasons[begin] = comparison.EarlierChange
		case !covered:
			reasons[begin] = comparison.NoReports
		default:
			side.Days++
			for _, row := range in.Rows {
				if !inside(row.Day) || row.Messages < 1 {
					continue
				}
				side.Total += row.Messages
				if !row.Aligned {
					side.Failing += row.Messages
				}
			}
		}
	}
	return side, reasons
}

// TestFiguresEqualPlainLoops computes both sides, the cut days, the neighbours and the delta
// of drawn histories a second time.
func TestFiguresEqualPlainLoops(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := drawInput(rt)
		n := in.WindowDays
		if n == 0 {
			n = 14
		}
		got, err := comparison.Compare(in)
		if err != nil {
			rt.Fatal(err)
		}
		first := day(22)
		if in.Change.OccurredAt.After(day(20)) {
			first = day(23)
		}
		last := day(20)
		if in.Change.OccurredAt.Equal(day(21)) {
			first, last = day(23), day(21)
		}
		before, cutBefore := recount(in, last.AddDate(0, 0, -n), n)
		after, cutAfter := recount(in, first, n)
		sameSide(rt, before, got.Before)
		sameSide(rt, after, got.After)
		for d, reason := range cutAfter {
			cutBefore[d] = reason
		}
		for _, truncation := range got.Truncations {
			for d := truncation.From; d.Before(truncation.To); d = d.Add(24 * time.Hour) {
				if cutBefore[d] != truncation.Reason {
					rt.Fatalf("%s is cut for %s, want %q", d, truncation.Reason, cutBefore[d])
				}
				delete(cutBefore, d)
			}
		}
		if len(cutBefore) > 0 {
			rt.Fatalf("days not cut: %v", cutBefore)
		}
		neighbours := 0
		for _, e := range in.Events {
			if e.Kind != timeline.Note && !e.OccurredAt.Before(before.From) && e.OccurredAt.Before(after.To) {
				neighbours++
			}
		}
		if len(got.Neighbours) != neighbours {
			rt.Fatalf("%d neighbours, want %d", len(got.Neighbours), neighbours)
		}
		wantDelta := neighbours == 0 && !in.Now.Before(after.To) && before.Total >= 100 && after.Total >= 100
		if (got.Delta != nil) != wantDelta || wantDelta == (got.NoDelta != "") {
			rt.Fatalf("delta %v, reason %q", got.Delta, got.NoDelta)
		}
		if wantDelta {
			rate := func(s comparison.Side) float64 { return float64(s.Total-s.Failing) / float64(s.Total) }
			if want := rate(after) - rate(before); math.Abs(got.Delta.PassRate-want) > 1e-12 {
				rt.Fatalf("delta of the pass rate %v, want %v", got.Delta.PassRate, want)
			}
			perDay := func(n int64, s comparison.Side) float64 { return float64(n) / float64(s.Days) }
			if want := perDay(after.Failing, after) - perDay(before.Failing, before); math.Abs(got.Delta.FailingPerDay-want) > 1e-9 {
				rt.Fatalf("delta of failing messages %v, want %v", got.Delta.FailingPerDay, want)
			}
		}
		seed := rapid.Uint64().Draw(rt, "order")
		shuffle := rand.New(rand.NewPCG(seed, seed))
		shuffle.Shuffle(len(in.Rows), func(i, j int) { in.Rows[i], in.Rows[j] = in.Rows[j], in.Rows[i] })
		shuffle.Shuffle(len(in.Events), func(i, j int) { in.Events[i], in.Events[j] = in.Events[j], in.Events[i] })
		if again, _ := comparison.Compare(in); cmp.Diff(got, again) != "" {
			rt.Fatalf("another order: %s", cmp.Diff(got, again))
		}
	})
}

// sameSide compares a side with the recount. The groups must add up to it.
func sameSide(t *rapid.T, want, got comparison.Side) {
	groups := got.Groups
	got.Groups = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	var total, failing int64
	for _, g := range groups {
		total, failing = total+g.Total, failing+g.Failing
	}
	if total != got.Total || failing != got.Failing {
		t.Fatalf("groups of %d and %d messages, the side has %d and %d", total, failing, got.Total, got.Failing)
	}
}
