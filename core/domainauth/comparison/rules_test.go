package comparison_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/comparison"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// day returns the midnight of a day of March 2026; day(0) is 28 February.
func day(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }

// changeAt is the time of the change that is compared: in the afternoon of 20 March. With
// the default window, the sides are 6 to 19 March and 23 March to 5 April.
var changeAt = day(20).Add(15 * time.Hour)

func change(id string, kind timeline.Kind, at time.Time) timeline.Event {
	return timeline.Event{ID: id, Kind: kind, OccurredAt: at}
}

// complete returns the figures of a domain with reports of all days and 10 messages a day, of
// which 2 failed before the change and 1 after it. All days of the sides are over.
func complete() comparison.Input {
	in := comparison.Input{Now: day(60), Change: change("it", timeline.PolicyChange, changeAt)}
	for n := -60; n < 60; n++ {
		failed := int64(2)
		if n >= 20 {
			failed = 1
		}
		in.Covered = append(in.Covered, day(n).Add(5*time.Hour))
		in.Rows = append(in.Rows,
			figures.Row{Day: day(n), Source: "shop", Aligned: true, Messages: 10 - failed},
			figures.Row{Day: day(n), Source: "shop", Messages: failed})
	}
	return in
}

// cut returns truncations in one line each, such as "retention 6-9": March 6 to 8.
func cut(all []comparison.Truncation) []string {
	var lines []string
	for _, t := range all {
		lines = append(lines, fmt.Sprintf("%s %d-%d", t.Reason, figures.Days(day(0), t.From), figures.Days(day(0), t.To)))
	}
	return lines
}

// uncover removes the reports and messages of days.
func uncover(in *comparison.Input, days ...int) {
	in.Covered = slices.DeleteFunc(in.Covered, func(d time.Time) bool { return slices.Contains(days, figures.Days(day(0), d)) })
	in.Rows = slices.DeleteFunc(in.Rows, func(r figures.Row) bool { return slices.Contains(days, figures.Days(day(0), r.Day)) })
}

// volume makes the messages of both sides: some on one day of each.
func volume(before, after int64) func(*comparison.Input) {
	return func(in *comparison.Input) {
		in.Rows = []figures.Row{{Day: day(10), Source: "shop", Aligned: true, Messages: before}, {Day: day(30), Source: "shop", Messages: after}}
	}
}

// rules has the rules on cut days, other changes and the delta.
var rules = []struct {
	name       string
	change     func(*comparison.Input)
	noDelta    comparison.NoDelta
	neighbours []string
	cut        []string
}{
	{name: "complete figures have a delta", change: func(*comparison.Input) {}},

	{name: "insufficient_volume: 100 messages on each side are enough", change: volume(100, 100)},
	{name: "insufficient_volume: 99 messages before", change: volume(99, 100), noDelta: comparison.InsufficientVolume},
	{name: "insufficient_volume: 99 messages after", change: volume(100, 99), noDelta: comparison.InsufficientVolume},
	{name: "insufficient_volume: messages in the guard band do not count", change: func(in *comparison.Input) {
		volume(100, 99)(in)
		for n := 20; n < 23; n++ {
			in.Rows = append(in.Rows, figures.Row{Day: day(n), Messages: 500})
		}
	}, noDelta: comparison.InsufficientVolume},
	{name: "insufficient_volume: no data", change: func(in *comparison.Input) { in.Rows, in.Covered = nil, nil }, noDelta: comparison.InsufficientVolume, cut: []string{"no_reports 6-20", "no_reports 23-37"}},

	{name: "after_incomplete: the last day is over at midnight", change: func(in *comparison.Input) { in.Now = day(37) }},
	{name: "after_incomplete: a moment earlier it is not", change: func(in *comparison.Input) { in.Now = day(37).Add(-1) }, noDelta: comparison.AfterIncomplete, cut: []string{"present 36-37"}},
	{name: "after_incomplete: right after the change", change: func(in *comparison.Input) { in.Now = changeAt }, noDelta: comparison.AfterIncomplete, cut: []string{"present 23-37"}},
	{name: "after_incomplete comes before insufficient_volume", change: func(in *comparison.Input) { volume(1, 1)(in); in.Now = day(25) }, noDelta: comparison.AfterIncomplete, cut: []string{"present 25-37"}},

	{name: "attribution_declined: another change on the first day before", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("a", timeline.SetupChange, day(6)))
	}, noDelta: comparison.AttributionDeclined, neighbours: []string{"a"}},
	{name: "attribution_declined: not a moment earlier, but its guard band is cut", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("a", timeline.SetupChange, day(6).Add(-1)))
	}, cut: []string{"earlier_change 6-8"}},
	{name: "attribution_declined: another change in the last moment after", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("a", timeline.PolicyChange, day(37).Add(-1)))
	}, noDelta: comparison.AttributionDeclined, neighbours: []string{"a"}},
	{name: "attribution_declined: not at the end of the window", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("a", timeline.PolicyChange, day(37)))
	}},
	{name: "attribution_declined: another change in the guard band", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("a", timeline.PolicyChange, changeAt.Add(time.Hour)))
	}, noDelta: comparison.AttributionDeclined, neighbours: []string{"a"}},
	{name: "attribution_declined: another change at the same time", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("a", timeline.SetupChange, changeAt))
	}, noDelta: comparison.AttributionDeclined, neighbours: []string{"a"}},
	{name: "attribution_declined: neighbours are sorted by time, then by id", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("c", timeline.PolicyChange, day(30)), change("b", timeline.SetupChange, day(30)), change("d", timeline.SetupChange, day(8)))
	}, noDelta: comparison.AttributionDeclined, neighbours: []string{"d", "b", "c"}},
	{name: "attribution_declined: the change itself is no neighbour", change: func(in *comparison.Input) { in.Events = append(in.Events, in.Change) }},
	{name: "attribution_declined: decisions, acknowledgements and notes change no mail", change: func(in *comparison.Input) {
		for _, kind := range []timeline.Kind{timeline.SourceDecisions, timeline.Acknowledgement, timeline.Note} {
			in.Events = append(in.Events, change(string(kind), kind, day(10)), change(string(kind)+" before", kind, day(5)))
		}
	}},
	{name: "attribution_declined comes before after_incomplete", change: func(in *comparison.Input) {
		in.Events, in.Now = append(in.Events, change("a", timeline.SetupChange, day(10))), day(30)
	}, noDelta: comparison.AttributionDeclined, neighbours: []string{"a"}, cut: []string{"present 30-37"}},
	{name: "a note can be compared around", change: func(in *comparison.Input) { in.Change.Kind = timeline.Note }},
	{name: "a change near a note is its neighbour", change: func(in *comparison.Input) {
		in.Change.Kind = timeline.Note
		in.Events = append(in.Events, change("a", timeline.SetupChange, day(10)))
	}, noDelta: comparison.AttributionDeclined, neighbours: []string{"a"}},

	{name: "truncations: retention at midnight", change: func(in *comparison.Input) { in.KeptFrom = day(9) }, cut: []string{"retention 6-9"}},
	{name: "truncations: a day that is deleted in part is cut", change: func(in *comparison.Input) { in.KeptFrom = day(9).Add(1) }, cut: []string{"retention 6-10"}},
	{name: "truncations: retention before the window cuts nothing", change: func(in *comparison.Input) { in.KeptFrom = day(6) }},
	{name: "truncations: retention of the whole side before", change: func(in *comparison.Input) { in.KeptFrom = day(20) }, noDelta: comparison.InsufficientVolume, cut: []string{"retention 6-20"}},
	{name: "truncations: the guard band of an earlier change at midnight ends two days later", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("a", timeline.SetupChange, day(5)))
	}, cut: []string{"earlier_change 6-7"}},
	{name: "truncations: the guard band of an earlier change that ends before the window", change: func(in *comparison.Input) {
		in.Events = append(in.Events, change("a", timeline.SetupChange, day(4)))
	}},
	{
		name: "truncations: days without reports, consecutive ones together", change: func(in *comparison.Input) { uncover(in, 7, 8, 12, 23, 36) },
		cut: []string{"no_reports 7-9", "no_reports 12-13", "no_reports 23-24", "no_reports 36-37"},
	},
	{name: "truncations: days without reports outside of the sides", change: func(in *comparison.Input) { uncover(in, 5, 20, 21, 22, 37) }},
	{name: "truncations: a day with a report without messages is not cut", change: func(in *comparison.Input) {
		in.Rows = slices.DeleteFunc(in.Rows, func(r figures.Row) bool { return r.Day.Equal(day(10)) })
	}},
	{name: "truncations: a day with messages is covered", change: func(in *comparison.Input) { in.Covered = nil }},
	{name: "truncations: each day has the first reason", change: func(in *comparison.Input) {
		uncover(in, 6, 7, 8, 9, 34, 35, 36)
		in.KeptFrom, in.Now = day(7), day(35)
		in.Events = append(in.Events, change("a", timeline.SetupChange, day(5).Add(time.Hour)))
	}, noDelta: comparison.AfterIncomplete, cut: []string{"retention 6-7", "earlier_change 7-8", "no_reports 8-10", "no_reports 34-35", "present 35-37"}},
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		in := complete()
		r.change(&in)
		got, err := comparison.Compare(in)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range got.Neighbours {
			ids = append(ids, e.ID)
		}
		if got.NoDelta != r.noDelta || (got.Delta == nil) != (r.noDelta != "") {
			t.Errorf("%s: delta %v, reason %q, want %q", r.name, got.Delta, got.NoDelta, r.noDelta)
		}
		if !slices.Equal(ids, r.neighbours) || got.AttributionDeclined != (len(r.neighbours) > 0) {
			t.Errorf("%s: declined %t, neighbours %q", r.name, got.AttributionDeclined, ids)
		}
		if d := cmp.Diff(r.cut, cut(got.Truncations)); d != "" {
			t.Errorf("%s: cut days: %s", r.name, d)
		}
		incomplete := slices.ContainsFunc(r.cut, func(s string) bool { return s[:3] == "pre" })
		if got.AfterIncomplete != incomplete {
			t.Errorf("%s: after_incomplete %t", r.name, got.AfterIncomplete)
		}
	}
}

// TestSides checks the days of the sides for changes at different times of a day and windows
// of different lengths.
func TestSides(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule                 string
		at                   time.Time
		days                 int
		from, to, from2, to2 int
	}{
		{"the default is 14 days", changeAt, 0, 6, 20, 23, 37},
		{"at least 7 days", changeAt, 7, 13, 20, 23, 30},
		{"at most 30 days", changeAt, 30, -10, 20, 23, 53},
		{"a change at midnight: its guard band has two whole days", day(20), 7, 13, 20, 22, 29},
		{"a moment after midnight touches a third day", day(20).Add(1), 7, 13, 20, 23, 30},
		{"a moment before midnight", day(21).Add(-1), 7, 13, 20, 23, 30},
		{"the day is that of UTC", time.Date(2026, 3, 20, 23, 0, 0, 0, time.FixedZone("", -3600)), 7, 14, 21, 23, 30},
	} {
		in := complete()
		in.Change.OccurredAt, in.WindowDays = tc.at, tc.days
		r, err := comparison.Compare(in)
		if err != nil {
			t.Fatal(err)
		}
		want := [4]time.Time{day(tc.from), day(tc.to), day(tc.from2), day(tc.to2)}
		if got := [4]time.Time{r.Before.From, r.Before.To, r.After.From, r.After.To}; got != want {
			t.Errorf("%s: %v, want %v", tc.rule, got, want)
		}
		if r.Before.Days != tc.to-tc.from || r.After.Days != tc.to2-tc.from2 {
			t.Errorf("%s: %d and %d days", tc.rule, r.Before.Days, r.After.Days)
		}
	}
}

func TestWindowOutOfRange(t *testing.T) {
	t.Parallel()
	for days, ok := range map[int]bool{-1: false, 1: false, 6: false, 7: true, 30: true, 31: false} {
		in := complete()
		in.WindowDays = days
		if _, err := comparison.Compare(in); errors.Is(err, comparison.ErrWindowDays) == ok {
			t.Errorf("%d days: error %v", days, err)
		}
	}
}

// TestDelta checks the values of a delta whose sides have different numbers of days.
func TestDelta(t *testing.T) {
	t.Parallel()
	in := complete()
	uncover(&in, 6, 7, 8, 9)
	in.Rows = append(in.Rows, figures.Row{Day: day(23), Source: "new", Messages: 14 * 5})
	r, err := comparison.Compare(in)
	if err != nil {
		t.Fatal(err)
	}
	// Before: 10 days, 100 messages, 20 failing. After: 14 days, 210 messages, 84 failing.
	want := comparison.Delta{PassRate: -0.2, FailingPerDay: 4, MessagesPerDay: 5}
	if r.Delta == nil || *r.Delta != want {
		t.Errorf("delta %+v, want %+v", r.Delta, want)
	}
}

// TestGroups checks that both sides are grouped by the present registry.
func TestGroups(t *testing.T) {
	t.Parallel()
	in := complete()
	in.Sources = []figures.Source{{ID: "shop", Decision: figures.Confirmed, Classification: figures.Own}, {ID: "crm", Decision: figures.Confirmed, Classification: figures.Own}, {ID: "fw", Decision: figures.Rejected, Classification: figures.Forwarder}}
	in.Rows = append(in.Rows, figures.Row{Day: day(8), Source: "crm", Messages: 7}, figures.Row{Day: day(30), Source: "stranger", Aligned: true, Messages: 3}, figures.Row{Day: day(31), Source: "gone", Messages: 0}, figures.Row{Day: day(32), Source: "fw", Messages: 2})
	r, err := comparison.Compare(in)
	if err != nil {
		t.Fatal(err)
	}
	own := func(total, failing int64) comparison.Group {
		return comparison.Group{Decision: figures.Confirmed, Classification: figures.Own, Total: total, Failing: failing}
	}
	if d := cmp.Diff([]comparison.Group{own(147, 35)}, r.Before.Groups); d != "" {
		t.Errorf("before: %s", d)
	}
	forwarder := comparison.Group{Decision: figures.Rejected, Classification: figures.Forwarder, Total: 2, Failing: 2}
	stranger := comparison.Group{Decision: figures.Unreviewed, Classification: figures.Unknown, Total: 3}
	if d := cmp.Diff([]comparison.Group{own(140, 14), forwarder, stranger}, r.After.Groups); d != "" {
		t.Errorf("after: %s", d)
	}
}
