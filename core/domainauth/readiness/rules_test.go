package readiness_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// unmet returns the names of the blocking criteria that are not met.
func unmet(a readiness.Assessment) string {
	var names []string
	for _, c := range a.Criteria {
		if c.Blocking && !c.Met {
			names = append(names, string(c.Name))
		}
	}
	return strings.Join(names, " ")
}

// rule is one rule: a change of the figures of a domain that is ready, and its result.
type rule struct {
	name   string
	record string
	change func(*readiness.Figures)
	// unmet has the names of the blocking criteria that are not met. Without them the domain
	// is ready, or waits for an acknowledgement.
	unmet   string
	pending bool
}

// TestRules checks each rule at its boundary, for one criterion at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, r := range slices.Concat(amountRules(), sourceRules(), rejectRules(), relayRules()) {
		f := complete(t, r.record)
		r.change(&f)
		a := readiness.Assess(f)
		if unmet(a) != r.unmet || a.PendingAcknowledgement != r.pending {
			t.Errorf("%s: unmet %q, want %q; pending %t", r.name, unmet(a), r.unmet, a.PendingAcknowledgement)
		}
		if want := r.unmet == "" && !r.pending; a.Ready != want || (a.Record != "") != want || (a.Changes != nil) != want {
			t.Errorf("%s: ready %t, record %q, %d changes", r.name, a.Ready, a.Record, len(a.Changes))
		}
	}
}

// onlyDays leaves the reports and messages of n days, the latest ones but the gap.
func onlyDays(f *readiness.Figures, days ...int) {
	kept := func(day time.Time) bool {
		return slices.ContainsFunc(days, func(n int) bool { return daysAgo(n).Equal(day) })
	}
	f.Coverage = slices.DeleteFunc(f.Coverage, func(c readiness.Coverage) bool { return !kept(c.Day) })
	f.Rows = slices.DeleteFunc(f.Rows, func(r figures.Row) bool { return !kept(r.Day) })
}

// firstDays returns 1 to n.
func firstDays(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

func amountRules() []rule {
	volume := func(n int64) func(*readiness.Figures) {
		return func(f *readiness.Figures) { f.Rows = []figures.Row{aligned(1, "shop", n)} }
	}
	return []rule{
		{"complete figures are ready", atNone, func(*readiness.Figures) {}, "", false},
		{"coverage_days: 14 days are enough", atNone, func(f *readiness.Figures) { onlyDays(f, firstDays(14)...) }, "", false},
		{"coverage_days: 13 days are not", atNone, func(f *readiness.Figures) { onlyDays(f, firstDays(13)...) }, "coverage_days", false},
		{"coverage_days: days with gaps count", atNone, func(f *readiness.Figures) { onlyDays(f, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 30) }, "", false},
		{"coverage_days: a day counts once, however many reports it has", atNone, func(f *readiness.Figures) {
			onlyDays(f, firstDays(13)...)
			f.Coverage = append(f.Coverage, readiness.Coverage{Day: daysAgo(1).Add(23 * time.Hour), Reporter: "mail.ru"})
		}, "coverage_days", false},
		{"coverage_days: the present day does not count", atNone, func(f *readiness.Figures) {
			onlyDays(f, firstDays(13)...)
			f.Coverage = append(f.Coverage, readiness.Coverage{Day: now, Reporter: "google.com"})
			f.Rows = append(f.Rows, aligned(0, "shop", 1))
		}, "coverage_days", false},
		{"coverage_days: the day before the window does not count", atNone, func(f *readiness.Figures) {
			onlyDays(f, firstDays(13)...)
			f.Coverage = append(f.Coverage, readiness.Coverage{Day: daysAgo(31), Reporter: "google.com"})
		}, "coverage_days", false},
		{"coverage_days: the first day of the window counts", atNone, func(f *readiness.Figures) {
			onlyDays(f, firstDays(13)...)
			f.Coverage = append(f.Coverage, readiness.Coverage{Day: daysAgo(30), Reporter: "google.com"})
		}, "", false},
		{"coverage_days: a day with messages is covered", atNone, func(f *readiness.Figures) {
			onlyDays(f, firstDays(13)...)
			f.Rows = append(f.Rows, aligned(20, "shop", 1))
		}, "", false},
		{"coverage_days: a report without messages covers its day", atNone, func(f *readiness.Figures) {
			f.Rows = []figures.Row{aligned(1, "shop", 1000)}
		}, "", false},
		{"message_volume: 1000 messages are enough", atNone, volume(1000), "", false},
		{"message_volume: 999 messages are not", atNone, volume(999), "message_volume", false},
		{"message_volume: failing messages count", atNone, func(f *readiness.Figures) {
			f.Rows = []figures.Row{aligned(1, "shop", 999), failing(2, "shop", 1)}
		}, "", false},
		{"message_volume: rows without messages count nothing", atNone, func(f *readiness.Figures) {
			f.Rows = []figures.Row{aligned(1, "shop", 999), failing(2, "other", 0), aligned(2, "shop", -5)}
		}, "message_volume", false},
		{"distinct_providers: 3 reporters are enough, 2 are not", atNone, func(f *readiness.Figures) {
			f.Coverage = slices.DeleteFunc(f.Coverage, func(c readiness.Coverage) bool { return c.Reporter == "gmx.net" })
		}, "distinct_providers", false},
		{"distinct_providers: one report in the window is enough for a reporter", atNone, func(f *readiness.Figures) {
			f.Coverage = slices.DeleteFunc(f.Coverage, func(c readiness.Coverage) bool { return c.Reporter == "gmx.net" })
			f.Coverage = append(f.Coverage, readiness.Coverage{Day: daysAgo(30), Reporter: "mail.ru"})
		}, "", false},
		{
			"no data: nothing is met", atNone, func(f *readiness.Figures) { f.Rows, f.Coverage = nil, nil },
			"coverage_days message_volume distinct_providers no_unaligned_sending acceptable_impact", false,
		},
		{"no record: nothing blocks", "", func(f *readiness.Figures) { f.Rows, f.Coverage = nil, nil }, "", false},
	}
}

func sourceRules() []rule {
	with := func(s readiness.Source, rows ...figures.Row) func(*readiness.Figures) {
		return func(f *readiness.Figures) { f.Sources, f.Rows = append(f.Sources, s), append(f.Rows, rows...) }
	}
	crm := source("crm", figures.Confirmed, figures.Unknown)
	return []rule{
		{"no_unaligned_sending: one failing message of a confirmed source without an aligned one", atNone, with(crm, failing(1, "crm", 1)), "no_unaligned_sending", false},
		{"no_unaligned_sending: one aligned message is enough", atNone, with(crm, failing(1, "crm", 5), aligned(30, "crm", 1)), "", false},
		{"no_unaligned_sending: an own source counts without a decision", atNone, with(source("ses", "", figures.Own), failing(1, "ses", 1)), "no_unaligned_sending", false},
		{"no_unaligned_sending: an authorised source counts without a decision", atNone, with(source("ses", "", figures.Authorised), failing(1, "ses", 1)), "no_unaligned_sending", false},
		{"no_unaligned_sending: a rejected source does not count", atNone, with(source("old", figures.Rejected, figures.Authorised), failing(1, "old", 1)), "", false},
		{"no_unaligned_sending: an unknown source without a decision does not count", atNone, with(source("x", "", figures.Unknown), failing(1, "x", 1)), "", false},
		{"no_unaligned_sending: a forwarder does not send", atNone, with(source("fw", figures.Confirmed, figures.Forwarder), failing(1, "fw", 1)), "", false},
		{"acceptable_impact: 10 failing messages a day are acceptable", atNone, with(crm, failing(1, "crm", 300), aligned(1, "crm", 1)), "", false},
		{"acceptable_impact: 301 in 30 days are not", atNone, with(crm, failing(1, "crm", 301), aligned(1, "crm", 1)), "acceptable_impact", false},
		{"acceptable_impact: the budget is for all confirmed sources together", atNone, func(f *readiness.Figures) {
			with(crm, failing(1, "crm", 300), aligned(1, "crm", 1), failing(9, "shop", 1))(f)
		}, "acceptable_impact", false},
		{"acceptable_impact: days without reports add nothing to the budget", atNone, func(f *readiness.Figures) {
			onlyDays(f, firstDays(20)...)
			with(crm, failing(1, "crm", 201), aligned(1, "crm", 1))(f)
		}, "acceptable_impact", false},
		{"acceptable_impact: 200 in 20 covered days", atNone, func(f *readiness.Figures) {
			onlyDays(f, firstDays(20)...)
			with(crm, failing(1, "crm", 200), aligned(1, "crm", 1))(f)
		}, "", false},
		{"acceptable_impact: a rejected source has no budget to exceed", atNone, with(source("bad", figures.Rejected, figures.Spoofing), failing(1, "bad", 1_000_000)), "", false},
		{"acceptable_impact: an unreviewed source with 99 failing messages", atNone, with(source("x", figures.Unreviewed, figures.Spoofing), failing(1, "x", 99), aligned(2, "x", 500)), "", false},
		{"acceptable_impact: one unreviewed source with 100 blocks alone", atNone, with(source("x", figures.Unreviewed, figures.Spoofing), failing(1, "x", 60), failing(30, "x", 40)), "acceptable_impact", false},
		{"acceptable_impact: several unreviewed sources below 100 do not add up", atNone, func(f *readiness.Figures) {
			for i := range 50 {
				with(source(fmt.Sprint("x", i), figures.Unreviewed, figures.Unknown), failing(1, fmt.Sprint("x", i), 99))(f)
			}
		}, "", false},
		{"acceptable_impact: an unregistered source is unreviewed", atNone, func(f *readiness.Figures) { f.Rows = append(f.Rows, failing(1, "new", 100)) }, "acceptable_impact", false},
		{"acceptable_impact: what a relay broke counts for an unreviewed source", atNone, with(source("fw", figures.Unreviewed, figures.Forwarder), relayBroken(1, "fw", 100)), "acceptable_impact", false},
		{"acceptable_impact: messages before the window do not count", atNone, with(crm, aligned(1, "crm", 1), failing(31, "crm", 1000), failing(0, "crm", 1000)), "", false},
		{"acceptable_impact: a sum that overflows is not small", atNone, with(crm, aligned(1, "crm", 1), failing(1, "crm", 1<<62), failing(2, "crm", 1<<62), failing(3, "crm", 1<<62)), "acceptable_impact", false},
		{"unreviewed sources alone do not block", atNone, with(source("x", figures.Unreviewed, figures.Unknown), aligned(1, "x", 5000)), "", false},
		{"pass_rate does not block", atNone, with(source("bad", figures.Rejected, figures.Spoofing), failing(2, "bad", 300_000)), "", false},
	}
}

func rejectRules() []rule {
	since := func(d time.Duration) func(*readiness.Figures) {
		return func(f *readiness.Figures) { f.PolicySince = now.Add(-d) }
	}
	const month = 30 * 24 * time.Hour
	seen := func(decision figures.Decision, class figures.Classification, at time.Time) func(*readiness.Figures) {
		return func(f *readiness.Figures) {
			f.Sources = append(f.Sources, readiness.Source{Source: figures.Source{ID: "new", Decision: decision, Classification: class}, FirstSeen: at})
		}
	}
	return []rule{
		{"complete figures are ready for reject", atQuarantine, func(*readiness.Figures) {}, "", false},
		{"time_at_current_policy: 30 days are enough", atQuarantine, since(month), "", false},
		{"time_at_current_policy: a nanosecond less is not", atQuarantine, since(month - 1), "time_at_current_policy", false},
		{"time_at_current_policy: a time in the future is 0 days", atQuarantine, since(-time.Hour), "time_at_current_policy", false},
		{"time_at_current_policy: an unknown time is not met", atQuarantine, func(f *readiness.Figures) { f.PolicySince = time.Time{} }, "time_at_current_policy", false},
		{"time_at_current_policy: not for quarantine", atNone, since(0), "", false},
		{"time_at_current_policy: for reject with sp=none too", "v=DMARC1; p=reject; sp=none", since(0), "time_at_current_policy", false},
		{"no_new_unknown_sources: first seen in the window", atQuarantine, seen("", "", daysAgo(30)), "no_new_unknown_sources", false},
		{"no_new_unknown_sources: first seen before the window", atQuarantine, seen("", "", daysAgo(30).Add(-1)), "", false},
		{"no_new_unknown_sources: first seen today", atQuarantine, seen("", "", now), "no_new_unknown_sources", false},
		{"no_new_unknown_sources: first seen at an unknown time", atQuarantine, seen("", "", time.Time{}), "no_new_unknown_sources", false},
		{"no_new_unknown_sources: a confirmed source is known", atQuarantine, seen(figures.Confirmed, figures.Unknown, now), "", false},
		{"no_new_unknown_sources: a rejected source is known", atQuarantine, seen(figures.Rejected, figures.Unknown, now), "", false},
		{"no_new_unknown_sources: a classified source is known", atQuarantine, seen("", figures.Spoofing, now), "", false},
		{"no_new_unknown_sources: an unregistered source is new", atQuarantine, func(f *readiness.Figures) { f.Rows = append(f.Rows, aligned(1, "new", 1)) }, "no_new_unknown_sources", false},
		{"no_new_unknown_sources: not for quarantine", atNone, seen("", "", now), "", false},
		{
			"no data at the reject rung", atQuarantine, func(f *readiness.Figures) { f.Rows, f.Coverage = nil, nil },
			"coverage_days message_volume distinct_providers no_unaligned_sending acceptable_impact no_new_unknown_sources", false,
		},
	}
}

func relayRules() []rule {
	broken := func(decision figures.Decision, n int64) func(*readiness.Figures) {
		return func(f *readiness.Figures) {
			f.Sources = append(f.Sources, source("list", decision, figures.Forwarder))
			f.Rows = append(f.Rows, relayBroken(3, "list", n))
		}
	}
	return []rule{
		{"acknowledgement: one message that a relay broke is a cost", atNone, broken(figures.Unreviewed, 1), "", true},
		{"acknowledgement: a confirmed forwarder is a cost without a limit", atNone, broken(figures.Confirmed, 1_000_000), "", true},
		{"acknowledgement: for reject too", atQuarantine, broken(figures.Confirmed, 1), "", true},
		{"acknowledgement: a rejected forwarder is no cost", atNone, broken(figures.Rejected, 500), "", false},
		{"acknowledgement: not for none", "", broken(figures.Confirmed, 1), "", false},
		{"acknowledgement: mail of the shop that a relay broke", atNone, func(f *readiness.Figures) { f.Rows = append(f.Rows, relayBroken(1, "shop", 5000)) }, "", true},
		{"acknowledgement: relays do not make a source unaligned", atNone, func(f *readiness.Figures) {
			f.Sources = append(f.Sources, source("crm", figures.Confirmed, figures.Authorised))
			f.Rows = append(f.Rows, relayBroken(1, "crm", 5))
		}, "", true},
		{"acknowledgement: failures that no relay caused need none", atNone, func(f *readiness.Figures) { f.Rows = append(f.Rows, failing(1, "shop", 300)) }, "", false},
		{"acknowledgement: aligned messages through a relay need none", atNone, func(f *readiness.Figures) {
			f.Rows = append(f.Rows, figures.Row{Day: daysAgo(1), Source: "shop", Aligned: true, RelayBroken: true, Messages: 9})
		}, "", false},
		{"acknowledgement: not while another criterion blocks", atNone, func(f *readiness.Figures) {
			broken(figures.Confirmed, 1)(f)
			onlyDays(f, firstDays(13)...)
		}, "coverage_days", false},
	}
}

// TestCriteriaOfTargets checks which criteria each target has, in which order, and which of
// them block. no_unreviewed_sources is never among them.
func TestCriteriaOfTargets(t *testing.T) {
	t.Parallel()
	const always = "coverage_days message_volume distinct_providers pass_rate no_unaligned_sending acceptable_impact"
	for record, want := range map[string]struct{ names, blocking string }{
		"":     {always, ""},
		atNone: {always, "coverage_days message_volume distinct_providers no_unaligned_sending acceptable_impact"},
		atQuarantine: {
			always + " time_at_current_policy no_new_unknown_sources",
			"coverage_days message_volume distinct_providers no_unaligned_sending acceptable_impact time_at_current_policy no_new_unknown_sources",
		},
		atReject: {always, ""},
	} {
		var names, blocking []string
		a := readiness.Assess(complete(t, record))
		for _, c := range a.Criteria {
			names = append(names, string(c.Name))
			if c.Blocking {
				blocking = append(blocking, string(c.Name))
			}
		}
		if got := strings.Join(names, " "); got != want.names {
			t.Errorf("%q: criteria %s", record, got)
		}
		if got := strings.Join(blocking, " "); got != want.blocking {
			t.Errorf("%q: blocking %s", record, got)
		}
		if a.TTL != 300*time.Second {
			t.Errorf("%q: TTL %s", record, a.TTL)
		}
	}
}

// TestThresholds checks the thresholds that criteria state.
func TestThresholds(t *testing.T) {
	t.Parallel()
	a := readiness.Assess(complete(t, atQuarantine))
	for name, want := range map[readiness.Name]int64{
		readiness.CoverageDays: 14, readiness.MessageVolume: 1000, readiness.DistinctProviders: 3, readiness.NoUnalignedSending: 0,
		readiness.AcceptableImpact: 10, readiness.TimeAtCurrentPolicy: 30, readiness.NoNewUnknownSources: 0,
	} {
		if got := criterion(t, a, name).Threshold; got != figures.Count(want) {
			t.Errorf("%s: threshold %v, want %d", name, got, want)
		}
	}
	if c := criterion(t, a, readiness.PassRate); c.Threshold.Known() || !c.Met {
		t.Errorf("pass_rate: %+v", c)
	}
}

// TestDaysAtPolicy checks the value of time_at_current_policy: complete days, never below 0.
func TestDaysAtPolicy(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for since, want := range map[time.Duration]int64{0: 0, day - 1: 0, day: 1, 30*day - 1: 29, 30 * day: 30, 400 * day: 400, -3 * day: 0} {
		f := complete(t, atQuarantine)
		f.PolicySince = now.Add(-since)
		if got := criterion(t, readiness.Assess(f), readiness.TimeAtCurrentPolicy).Value; got != figures.Count(want) {
			t.Errorf("%s: %v, want %d", since, got, want)
		}
	}
}

func TestLastRung(t *testing.T) {
	t.Parallel()
	f := complete(t, atReject)
	f.Rows = append(f.Rows, relayBroken(1, "shop", 5))
	a := readiness.Assess(f)
	if a.Current != dmarc.Reject || a.Target != "" || a.Ready || a.PendingAcknowledgement || a.Record != "" || a.Changes != nil {
		t.Errorf("at the last rung: %+v", a)
	}
	if a.Impact.RelayBroken != 5 {
		t.Errorf("the impact is not measured: %+v", a.Impact)
	}
}
