package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// hour returns the time n hours after the start.
func hour(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }

func text(s string) *string { return &s }

const (
	none       = "v=DMARC1; p=none; rua=mailto:a@example.com"
	quarantine = "v=DMARC1; p=quarantine; rua=mailto:a@example.com"
	reject     = "v=DMARC1; p=reject; rua=mailto:a@example.com"
)

// polled returns a sighting of the DMARC record by a poll; the previous poll was an hour
// before.
func polled(id, before, after string, at int) timeline.Sighting {
	return timeline.Sighting{
		ID: id, Origin: timeline.DNS, Kind: timeline.PolicyChange, Subject: "_dmarc.example.com", Old: text(before), New: text(after),
		OldSeenAt: hour(at - 1), NewSeenAt: hour(at), ObservedAt: hour(at),
	}
}

// reported returns a sighting by a report whose date range ends at a time and which was read
// at another.
func reported(id, before, after string, end, read int) timeline.Sighting {
	return timeline.Sighting{
		ID: id, Origin: timeline.Reports, Kind: timeline.PolicyChange, Subject: "_dmarc.example.com", Old: text("v=DMARC1; p=" + before), New: text("v=DMARC1; p=" + after),
		NewSeenAt: hour(end), ObservedAt: hour(read),
	}
}

// set returns a sighting with another kind and subject.
func set(s timeline.Sighting, kind timeline.Kind, subject string) timeline.Sighting {
	s.Kind, s.Subject = kind, subject
	return s
}

// brief returns an event in one line.
func brief(e timeline.Event) string {
	return fmt.Sprintf("%s %s occurred %d observed %d sightings %d: %s > %s", e.ID, e.Origin,
		int(e.OccurredAt.Sub(start)/time.Hour), int(e.ObservedAt.Sub(start)/time.Hour), e.Sightings, orHyphen(e.Old), orHyphen(e.New))
}

// orHyphen returns a record, or a hyphen for none.
func orHyphen(record *string) string {
	if record == nil {
		return "-"
	}
	return *record
}

// changed returns a changed copy of a sighting.
func changed(s timeline.Sighting, change func(*timeline.Sighting)) timeline.Sighting {
	change(&s)
	return s
}

var (
	appeared = changed(polled("appeared", "", none, 5), func(s *timeline.Sighting) { s.Old = nil })
	vanished = changed(polled("vanished", none, "", 9), func(s *timeline.Sighting) { s.New = nil })
	late     = changed(polled("d", none, quarantine, 10), func(s *timeline.Sighting) { s.OldSeenAt = hour(10) })
	outage   = changed(polled("d", none, quarantine, 100), func(s *timeline.Sighting) { s.OldSeenAt = hour(90) })
)

// foldRules has the events of sightings.
var foldRules = []struct {
	rule      string
	sightings []timeline.Sighting
	events    []string
}{
	{"no sightings", nil, nil},
	{"one poll", []timeline.Sighting{polled("d", none, quarantine, 10)}, []string{"d dns occurred 10 observed 10 sightings 1: " + none + " > " + quarantine}},
	{
		"one report: it occurred before the end of the date range, and was known when it was read",
		[]timeline.Sighting{reported("r", "none", "quarantine", 24, 30)},
		[]string{"r reports occurred 24 observed 30 sightings 1: v=DMARC1; p=none > v=DMARC1; p=quarantine"},
	},
	{
		"both origins are one event with the record of DNS",
		[]timeline.Sighting{reported("r", "none", "quarantine", 24, 30), polled("d", none, quarantine, 10), reported("s", "none", "quarantine", 48, 50)},
		[]string{"d dns occurred 10 observed 10 sightings 3: " + none + " > " + quarantine},
	},
	{
		"a report can be earlier evidence than a poll",
		[]timeline.Sighting{reported("r", "none", "quarantine", 93, 95), outage},
		[]string{"r dns occurred 93 observed 95 sightings 2: " + none + " > " + quarantine},
	},
	{
		"a report is no evidence against a poll that found the old record",
		[]timeline.Sighting{reported("r", "none", "quarantine", 24, 95), outage},
		[]string{"r dns occurred 90 observed 95 sightings 2: " + none + " > " + quarantine},
	},
	{
		"a change occurred when it was known, also against a later poll",
		[]timeline.Sighting{reported("r", "none", "quarantine", 24, 30), outage},
		[]string{"r dns occurred 30 observed 30 sightings 2: " + none + " > " + quarantine},
	},
	{
		"a change is not known before it happens",
		[]timeline.Sighting{reported("r", "none", "quarantine", 500, 30)},
		[]string{"r reports occurred 30 observed 30 sightings 1: v=DMARC1; p=none > v=DMARC1; p=quarantine"},
	},
	{
		"the same sighting twice counts once",
		[]timeline.Sighting{polled("d", none, quarantine, 10), polled("d", none, quarantine, 10)},
		[]string{"d dns occurred 10 observed 10 sightings 1: " + none + " > " + quarantine},
	},
	{
		"a late reporter is of the same event",
		[]timeline.Sighting{polled("d", none, quarantine, 10), reported("r", "none", "quarantine", 1000, 1010)},
		[]string{"d dns occurred 10 observed 10 sightings 2: " + none + " > " + quarantine},
	},
	{
		"a late reporter is of the same event, also after the next step",
		[]timeline.Sighting{polled("d", none, quarantine, 10), polled("e", quarantine, reject, 20), reported("r", "none", "quarantine", 24, 30)},
		[]string{"d dns occurred 10 observed 10 sightings 2: " + none + " > " + quarantine, "e dns occurred 20 observed 20 sightings 1: " + quarantine + " > " + reject},
	},
	{
		"the same change after a return is another event",
		[]timeline.Sighting{polled("a", none, quarantine, 10), polled("b", quarantine, none, 20), polled("c", none, quarantine, 30), reported("r", "none", "quarantine", 48, 50)},
		[]string{
			"a dns occurred 10 observed 10 sightings 1: " + none + " > " + quarantine, "b dns occurred 20 observed 20 sightings 1: " + quarantine + " > " + none,
			"c dns occurred 30 observed 30 sightings 2: " + none + " > " + quarantine,
		},
	},
	{
		"a return over another policy separates too",
		[]timeline.Sighting{polled("a", none, quarantine, 10), polled("b", quarantine, reject, 20), polled("c", reject, none, 25), polled("d", none, quarantine, 30)},
		[]string{
			"a dns occurred 10 observed 10 sightings 1: " + none + " > " + quarantine, "b dns occurred 20 observed 20 sightings 1: " + quarantine + " > " + reject,
			"c dns occurred 25 observed 25 sightings 1: " + reject + " > " + none, "d dns occurred 30 observed 30 sightings 1: " + none + " > " + quarantine,
		},
	},
	{
		"tags that reports do not state are known from DNS alone",
		[]timeline.Sighting{polled("a", none, none+"; t=y", 10), reported("r", "none", "none; t=y", 24, 30)},
		[]string{"a dns occurred 10 observed 10 sightings 1: " + none + " > " + none + "; t=y"},
	},
	{
		"an absent sp is p",
		[]timeline.Sighting{polled("a", none, reject, 10), reported("r", "none; sp=none", "reject; sp=reject", 24, 30)},
		[]string{"a dns occurred 10 observed 10 sightings 2: " + none + " > " + reject},
	},
	{
		"another sp or alignment is another change",
		[]timeline.Sighting{polled("a", none, reject, 10), reported("r", "none", "reject; sp=none", 24, 30), reported("s", "none", "reject; adkim=s", 48, 50)},
		[]string{
			"a dns occurred 10 observed 10 sightings 1: " + none + " > " + reject, "r reports occurred 24 observed 30 sightings 1: v=DMARC1; p=none > v=DMARC1; p=reject; sp=none",
			"s reports occurred 48 observed 50 sightings 1: v=DMARC1; p=none > v=DMARC1; p=reject; adkim=s",
		},
	},
	{
		"a record that appears and vanishes",
		[]timeline.Sighting{appeared, vanished},
		[]string{"appeared dns occurred 5 observed 5 sightings 1: - > " + none, "vanished dns occurred 9 observed 9 sightings 1: " + none + " > -"},
	},
	{
		"an old record seen after the new one is no bound",
		[]timeline.Sighting{reported("r", "none", "quarantine", 5, 95), late},
		[]string{"d dns occurred 5 observed 10 sightings 2: " + none + " > " + quarantine},
	},
	{
		"another aspf is another change",
		[]timeline.Sighting{reported("r", "none", "reject", 24, 30), reported("s", "none", "reject; aspf=s", 48, 50)},
		[]string{
			"r reports occurred 24 observed 30 sightings 1: v=DMARC1; p=none > v=DMARC1; p=reject",
			"s reports occurred 48 observed 50 sightings 1: v=DMARC1; p=none > v=DMARC1; p=reject; aspf=s",
		},
	},
	{
		"a return at the time of a sighting does not separate",
		[]timeline.Sighting{polled("a", none, quarantine, 10), polled("b", quarantine, none, 10), polled("c", none, quarantine, 30), polled("d", quarantine, none, 30)},
		[]string{"a dns occurred 10 observed 10 sightings 2: " + none + " > " + quarantine, "b dns occurred 10 observed 10 sightings 2: " + quarantine + " > " + none},
	},
	{
		"the earliest poll has the record",
		[]timeline.Sighting{polled("b", none+"; x=1", quarantine+"; x=1", 20), polled("a", none, quarantine, 10)},
		[]string{"a dns occurred 10 observed 10 sightings 2: " + none + " > " + quarantine},
	},
	{
		"a false end of a date range does not put a report after a return",
		[]timeline.Sighting{polled("a", none, quarantine, 10), reported("r", "none", "quarantine", 500, 30), polled("b", quarantine, none, 40)},
		[]string{"a dns occurred 10 observed 10 sightings 2: " + none + " > " + quarantine, "b dns occurred 40 observed 40 sightings 1: " + quarantine + " > " + none},
	},
	{"no change is no event", []timeline.Sighting{polled("a", none, none, 10), reported("r", "none", "none; sp=none", 24, 30)}, nil},
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, tc := range foldRules {
		var got []string
		for _, e := range timeline.Fold(tc.sightings) {
			got = append(got, brief(e))
		}
		if d := cmp.Diff(tc.events, got); d != "" {
			t.Errorf("%s: %s", tc.rule, d)
		}
	}
}

// TestFoldKeepsRecordsApart checks that equal changes of two records, and of two kinds, are
// different events, and that setup changes compare texts.
func TestFoldKeepsRecordsApart(t *testing.T) {
	t.Parallel()
	events := timeline.Fold([]timeline.Sighting{
		polled("a", none, quarantine, 10),
		set(polled("b", none, quarantine, 11), timeline.PolicyChange, "_dmarc.example.org"),
		set(polled("c", none, quarantine, 12), timeline.SetupChange, "_dmarc.example.com"),
		set(reported("g", "none", "none; t=y", 17, 17), timeline.SetupChange, "example.com"),
		set(polled("d", "v=spf1 -all", "v=spf1 mx -all", 13), timeline.SetupChange, "example.com"),
		set(polled("e", "v=spf1 -all", "v=spf1  mx -all", 14), timeline.SetupChange, "example.com"),
		set(reported("f", "none", "quarantine", 16, 16), timeline.SetupChange, "example.com"),
	})
	var ids []string
	for _, e := range events {
		ids = append(ids, e.ID+" "+string(e.Kind)+" "+e.Subject)
	}
	want := []string{
		"a policy_change _dmarc.example.com", "b policy_change _dmarc.example.org", "c setup_change _dmarc.example.com",
		"d setup_change example.com", "e setup_change example.com", "f setup_change example.com", "g setup_change example.com",
	}
	if d := cmp.Diff(want, ids); d != "" {
		t.Error(d)
	}
}

func TestKindsThatChangeMail(t *testing.T) {
	t.Parallel()
	for kind, want := range map[timeline.Kind]bool{
		timeline.PolicyChange: true, timeline.SetupChange: true, timeline.SourceDecisions: false, timeline.Acknowledgement: false, timeline.Note: false,
	} {
		if kind.ChangesMail() != want {
			t.Errorf("%s: %t", kind, kind.ChangesMail())
		}
	}
}

// drawSighting draws a sighting of any change at any time: also contradictory ones.
func drawSighting(id string) *rapid.Generator[timeline.Sighting] {
	return rapid.Custom(func(t *rapid.T) timeline.Sighting {
		policies := rapid.SampledFrom([]string{"none", "quarantine", "reject", "none; t=y"})
		before, after := policies.Draw(t, "before"), policies.Draw(t, "after")
		at := rapid.IntRange(0, 30).Draw(t, "hour")
		if rapid.Bool().Draw(t, "report") {
			return reported(id, before, after, at, at+rapid.IntRange(-5, 20).Draw(t, "delay"))
		}
		s := polled(id, "v=DMARC1; p="+before, "v=DMARC1; p="+after+rapid.SampledFrom([]string{"", "; x=1", "; x=2"}).Draw(t, "tag"), at)
		s.OldSeenAt = hour(at - rapid.IntRange(0, 9).Draw(t, "outage"))
		if rapid.Bool().Draw(t, "setup") {
			s.Kind = timeline.SetupChange
		}
		return s
	})
}

// TestFoldDoesNotDependOnOrder folds any sightings in drawn orders, some of them twice.
func TestFoldDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		sightings := make([]timeline.Sighting, rapid.IntRange(0, 12).Draw(rt, "sightings"))
		for i := range sightings {
			sightings[i] = drawSighting(fmt.Sprint("s", i)).Draw(rt, "sighting")
		}
		want := timeline.Fold(sightings)
		counted := 0
		for _, e := range want {
			counted += e.Sightings
			if e.Sightings < 1 || e.OccurredAt.After(e.ObservedAt) {
				rt.Fatalf("event %+v", e)
			}
		}
		if counted > len(sightings) {
			rt.Fatalf("%d sightings, %d counted", len(sightings), counted)
		}
		again := slices.Concat(sightings, sightings[:len(sightings)/2])
		seed := rapid.Uint64().Draw(rt, "order")
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		if d := cmp.Diff(want, timeline.Fold(again)); d != "" {
			rt.Fatalf("another order: %s", d)
		}
	})
}

// truth is one change of a drawn history.
type truth struct {
	at            int
	before, after string
}

// TestFoldFindsTheTruth draws a history of changes, at least two days apart, and what two
// reporters and hourly polls with outages see of it. The events must be the changes.
func TestFoldFindsTheTruth(t *testing.T) {
	t.Parallel()
	policies := []string{"none", "quarantine", "reject"}
	rapid.Check(t, func(rt *rapid.T) {
		var history []truth
		at, policy := 0, 0
		for range rapid.IntRange(0, 6).Draw(rt, "changes") {
			at += rapid.IntRange(72, 500).Draw(rt, "hours")
			next := (policy + rapid.IntRange(1, 2).Draw(rt, "policy")) % 3
			history = append(history, truth{at, policies[policy], policies[next]})
			policy = next
		}
		var sightings []timeline.Sighting
		for i, change := range history {
			seen := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"dns", "r1", "r2"}), 1, 3, rapid.ID).Draw(rt, "seen by")
			for _, by := range seen {
				id := fmt.Sprint(by, " ", i)
				if by == "dns" {
					s := polled(id, "v=DMARC1; p="+change.before+"; rua=mailto:a@example.com", "v=DMARC1; p="+change.after+"; rua=mailto:a@example.com", change.at+rapid.IntRange(0, 60).Draw(rt, "outage"))
					s.OldSeenAt = hour(change.at - 1)
					sightings = append(sightings, s)
					continue
				}
				end := change.at + rapid.IntRange(0, 60).Draw(rt, "until the end of the range")
				sightings = append(sightings, reported(id, change.before, change.after, end, end+rapid.IntRange(0, 2000).Draw(rt, "until it is read")))
			}
		}
		events := timeline.Fold(sightings)
		if len(events) != len(history) {
			rt.Fatalf("%d events, %d changes: %+v", len(events), len(history), events)
		}
		for i, e := range events {
			change := history[i]
			count, occurred, observed, verbatim := 0, time.Time{}, time.Time{}, false
			for _, s := range sightings {
				if s.ID != fmt.Sprint("dns ", i) && s.ID != fmt.Sprint("r1 ", i) && s.ID != fmt.Sprint("r2 ", i) {
					continue
				}
				if count++; count == 1 || s.NewSeenAt.Before(occurred) {
					occurred = s.NewSeenAt
				}
				if count == 1 || s.ObservedAt.Before(observed) {
					observed = s.ObservedAt
				}
				verbatim = verbatim || s.Origin == timeline.DNS
			}
			rest := ""
			if verbatim {
				rest = "; rua=mailto:a@example.com"
			}
			if e.Sightings != count || !e.OccurredAt.Equal(occurred) || !e.ObservedAt.Equal(observed) || e.OccurredAt.Before(hour(change.at)) || (e.Origin == timeline.DNS) != verbatim ||
				*e.Old != "v=DMARC1; p="+change.before+rest || *e.New != "v=DMARC1; p="+change.after+rest {
				rt.Fatalf("change %+v: event %s", change, brief(e))
			}
		}
	})
}
