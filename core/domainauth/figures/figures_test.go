package figures_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"pgregory.net/rapid"
)

// at parses a time in UTC, such as "2026-03-01 05:00".
func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestDaysOfReports(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule, begin, end, day, first, last string
	}{
		{"a whole UTC day", "2026-03-01 00:00", "2026-03-01 23:59", "2026-03-01", "2026-03-01", "2026-03-01"},
		{"an end at midnight belongs to the day before", "2026-03-01 00:00", "2026-03-02 00:00", "2026-03-01", "2026-03-01", "2026-03-01"},
		{"a local day west of Greenwich", "2026-03-01 05:00", "2026-03-02 05:00", "2026-03-01", "2026-03-01", "2026-03-01"},
		{"a local day east of Greenwich", "2026-03-01 15:00", "2026-03-02 15:00", "2026-03-02", "2026-03-02", "2026-03-02"},
		{"noon to noon has half of both days: the middle decides", "2026-03-01 12:00", "2026-03-02 12:00", "2026-03-02", "2026-03-02", "2026-03-02"},
		{"one minute before noon covers more than half of the first day", "2026-03-01 11:59", "2026-03-02 12:00", "2026-03-01", "2026-03-01", "2026-03-01"},
		{"more than half of two days", "2026-03-01 11:00", "2026-03-02 13:00", "2026-03-02", "2026-03-01", "2026-03-02"},
		{"an hour", "2026-03-01 22:00", "2026-03-01 23:00", "2026-03-01", "2026-03-01", "2026-03-01"},
		{"an hour around midnight, the middle at midnight", "2026-03-01 23:30", "2026-03-02 00:30", "2026-03-02", "2026-03-02", "2026-03-02"},
		{"a week: counts in the middle, seven days covered", "2026-03-01 00:00", "2026-03-08 00:00", "2026-03-04", "2026-03-01", "2026-03-07"},
		{"an instant", "2026-03-01 00:00", "2026-03-01 00:00", "2026-03-01", "2026-03-01", "2026-03-01"},
		{"the end before the begin counts as the begin", "2026-03-05 01:00", "2026-03-01 00:00", "2026-03-05", "2026-03-05", "2026-03-05"},
	} {
		day := figures.DayOfReport(at(t, tc.begin), at(t, tc.end))
		first, last := figures.DaysOfReport(at(t, tc.begin), at(t, tc.end))
		if day.Format(time.DateOnly) != tc.day || first.Format(time.DateOnly) != tc.first || last.Format(time.DateOnly) != tc.last {
			t.Errorf("%s: day %s, days %s to %s", tc.rule, day.Format(time.DateOnly), first.Format(time.DateOnly), last.Format(time.DateOnly))
		}
	}
}

// TestDaysOfReportsByMinutes compares the days of drawn date ranges with a loop over their
// minutes.
func TestDaysOfReportsByMinutes(t *testing.T) {
	t.Parallel()
	start := at(t, "2024-02-27 00:00")
	rapid.Check(t, func(rt *rapid.T) {
		begin := start.Add(time.Duration(rapid.IntRange(0, 3*24*60).Draw(rt, "begin")) * time.Minute)
		minutes := rapid.IntRange(0, 4*24*60).Draw(rt, "minutes")
		end := begin.Add(time.Duration(minutes) * time.Minute)
		covered := map[string]int{}
		for m := range minutes {
			covered[begin.Add(time.Duration(m)*time.Minute).Format(time.DateOnly)]++
		}
		middle := begin.Add(time.Duration(minutes) * 30 * time.Second).Format(time.DateOnly)
		if got := figures.DayOfReport(begin, end).Format(time.DateOnly); got != middle {
			rt.Fatalf("day %s, want %s", got, middle)
		}
		first, last := figures.DaysOfReport(begin, end)
		got := map[string]bool{}
		for d := first; !d.After(last); d = figures.AddDays(d, 1) {
			got[d.Format(time.DateOnly)] = true
		}
		for d, n := range covered {
			if want := n > 12*60 || d == middle; got[d] != want {
				rt.Fatalf("%s with %d minutes: covered %t", d, n, got[d])
			}
			delete(got, d)
		}
		delete(got, middle)
		if len(got) > 0 {
			rt.Fatalf("more days: %v", got)
		}
	})
}

func TestDays(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -5*60*60)
	late := time.Date(2026, 2, 28, 23, 30, 0, 0, zone)
	if got := figures.DayOf(late).Format(time.DateTime); got != "2026-03-01 00:00:00" {
		t.Errorf("the UTC day of %s is %s", late, got)
	}
	if got := figures.Days(at(t, "2024-02-28 23:59"), at(t, "2024-03-01 00:00")); got != 2 {
		t.Errorf("%d days in a leap year", got)
	}
	if got := figures.Days(late, at(t, "2026-02-27 12:00")); got != -2 {
		t.Errorf("%d days backwards", got)
	}
}

// TestRatios compares ratios with rational numbers of any size.
func TestRatios(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(0, 40), rapid.Int64Range(0, math.MaxInt64))
		r := figures.Ratio{Part: amount.Draw(rt, "part"), Whole: amount.Draw(rt, "whole")}
		n := amount.Draw(rt, "n")
		value, known := r.Float()
		if known != (r.Whole > 0) || known != r.Known() || math.IsNaN(value) || math.IsInf(value, 0) {
			rt.Fatalf("Float of %v = %v, %t", r, value, known)
		}
		if !known {
			if value != 0 || r.AtLeast(n) || r.AtMost(n) {
				rt.Fatalf("an unknown ratio has a value")
			}
			return
		}
		want := big.NewRat(r.Part, r.Whole)
		sign := want.Cmp(new(big.Rat).SetInt64(n))
		if r.AtLeast(n) != (sign >= 0) || r.AtMost(n) != (sign <= 0) {
			rt.Fatalf("%v beside %d: at least %t, at most %t", r, n, r.AtLeast(n), r.AtMost(n))
		}
		if exact, _ := want.Float64(); math.Abs(value-exact) > exact*1e-15 {
			rt.Fatalf("Float of %v = %v, want %v", r, value, exact)
		}
	})
}

func TestAddSaturates(t *testing.T) {
	t.Parallel()
	for _, tc := range [][3]int64{{1, 2, 3}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64 - 1, 1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64, math.MaxInt64}} {
		if got := figures.Add(tc[0], tc[1]); got != tc[2] {
			t.Errorf("Add(%d, %d) = %d, want %d", tc[0], tc[1], got, tc[2])
		}
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	registry := figures.Register([]figures.Source{{ID: "a"}, {ID: "b", Decision: figures.Rejected}, {ID: "b", Decision: figures.Confirmed, Classification: figures.Own}})
	for id, want := range map[string]figures.Source{
		"a":       {ID: "a", Decision: figures.Unreviewed, Classification: figures.Unknown},
		"b":       {ID: "b", Decision: figures.Confirmed, Classification: figures.Own},
		"missing": {ID: "missing", Decision: figures.Unreviewed, Classification: figures.Unknown},
	} {
		if got := registry.Source(id); got != want {
			t.Errorf("source %s: %+v, want %+v", id, got, want)
		}
	}
	for _, tc := range []struct {
		decision figures.Decision
		class    figures.Classification
		sends    bool
	}{
		{figures.Confirmed, figures.Own, true},
		{figures.Confirmed, figures.Unknown, true},
		{figures.Confirmed, figures.Spoofing, true},
		{figures.Confirmed, figures.Forwarder, false},
		{figures.Unreviewed, figures.Own, true},
		{figures.Unreviewed, figures.Authorised, true},
		{figures.Unreviewed, figures.Unknown, false},
		{figures.Unreviewed, figures.Spoofing, false},
		{figures.Rejected, figures.Own, false},
		{figures.Rejected, figures.Authorised, false},
	} {
		if got := (figures.Source{Decision: tc.decision, Classification: tc.class}).Sends(); got != tc.sends {
			t.Errorf("%s %s: Sends() = %t", tc.decision, tc.class, got)
		}
	}
}
