package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"pgregory.net/rapid"
)

// poll returns an observation of a poll. An empty text is no record.
func poll(id, record string, at int) timeline.Observation {
	o := timeline.Observation{ID: id, Origin: timeline.DNS, Kind: timeline.PolicyChange, Subject: "_dmarc.example.com", From: hour(at), To: hour(at), ObservedAt: hour(at)}
	if record != "" {
		o.Text = &record
	}
	return o
}

// stated returns an observation of a report.
func stated(id, reporter, policy string, from, to, read int) timeline.Observation {
	o := poll(id, "v=DMARC1; p="+policy, from)
	o.Origin, o.Observer, o.To, o.ObservedAt = timeline.Reports, reporter, hour(to), hour(read)
	return o
}

func TestSightings(t *testing.T) {
	t.Parallel()
	elsewhere := poll("b", quarantine, 2)
	elsewhere.Subject = "_dmarc.example.org"
	setup := poll("b", quarantine, 2)
	setup.Kind = timeline.SetupChange
	for _, tc := range []struct {
		rule         string
		observations []timeline.Observation
		sightings    []string
	}{
		{"the first observation shows no change", []timeline.Observation{poll("a", none, 1)}, nil},
		{"equal records show no change", []timeline.Observation{poll("a", none, 1), poll("b", none, 2)}, nil},
		{"a change between polls", []timeline.Observation{poll("b", quarantine, 2), poll("a", none, 1)}, []string{"b dns 1-2 known 2: " + none + " > " + quarantine}},
		{"a record that appears and vanishes", []timeline.Observation{poll("a", "", 1), poll("b", none, 2), poll("c", "", 3)}, []string{"b dns 1-2 known 2: - > " + none, "c dns 2-3 known 3: " + none + " > -"}},
		{"other tags change for polls", []timeline.Observation{poll("a", none, 1), poll("b", none+"; t=y", 2)}, []string{"b dns 1-2 known 2: " + none + " > " + none + "; t=y"}},
		{"not for reports, which have different formats", []timeline.Observation{stated("a", "x", "none", 0, 24, 30), stated("b", "x", "none; np=none", 24, 48, 50)}, nil},
		{"the old record was seen in its report's date range at the earliest", []timeline.Observation{stated("a", "x", "none", 0, 24, 30), stated("b", "x", "reject", 24, 48, 50)}, []string{"b reports 0-48 known 50: v=DMARC1; p=none > v=DMARC1; p=reject"}},
		{"a change is known when both records are", []timeline.Observation{stated("a", "x", "none", 0, 24, 99), stated("b", "x", "reject", 24, 48, 50)}, []string{"b reports 0-48 known 99: v=DMARC1; p=none > v=DMARC1; p=reject"}},
		{"reporters are not compared with each other", []timeline.Observation{stated("a", "x", "none", 0, 24, 30), stated("b", "y", "reject", 24, 48, 50)}, nil},
		{"origins are not compared with each other", []timeline.Observation{poll("a", none, 1), stated("b", "", "reject", 24, 48, 50)}, nil},
		{"records of other domains are not compared", []timeline.Observation{poll("a", none, 1), elsewhere}, nil},
		{"kinds are not compared with each other", []timeline.Observation{poll("a", none, 1), setup}, nil},
		{"of two reports with one end, the shorter is later", []timeline.Observation{stated("a", "x", "reject", 12, 24, 30), stated("b", "x", "none", 0, 24, 30)}, []string{"a reports 0-24 known 30: v=DMARC1; p=none > v=DMARC1; p=reject"}},
	} {
		var got []string
		for _, s := range timeline.Sightings(tc.observations) {
			got = append(got, fmt.Sprintf("%s %s %d-%d known %d: %s > %s", s.ID, s.Origin, hours(s.OldSeenAt), hours(s.NewSeenAt), hours(s.ObservedAt), orHyphen(s.Old), orHyphen(s.New)))
		}
		if d := cmp.Diff(tc.sightings, got); d != "" {
			t.Errorf("%s: %s", tc.rule, d)
		}
	}
}

func hours(t time.Time) int { return int(t.Sub(start) / time.Hour) }

func TestPolicyText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		policy report.Policy
		text   string
		ok     bool
	}{
		{report.Policy{P: "none"}, "v=DMARC1; p=none", true},
		{report.Policy{Domain: "example.com", P: "reject", SP: "none", NP: "reject", ADKIM: "r", ASPF: "s", FO: "1", Pct: "100", Testing: "y"}, "v=DMARC1; p=reject; sp=none; np=reject; adkim=r; aspf=s; t=y", true},
		{report.Policy{P: "none", SP: "x; p=reject", ADKIM: "a=b", ASPF: "\u00e9", NP: "a b"}, "v=DMARC1; p=none", true},
		{report.Policy{}, "v=DMARC1", false},
		{report.Policy{P: "monitor", SP: "none"}, "v=DMARC1; p=monitor; sp=none", false},
	} {
		if text, ok := timeline.PolicyText(tc.policy); text != tc.text || ok != tc.ok {
			t.Errorf("%+v: %q, %t", tc.policy, text, ok)
		}
	}
}

// TestObservationsShowTheTruth draws changes of a policy, at least four days apart, hourly
// polls, and daily reports of three reporters, some of which are missing. Reports arrive
// late and in any order. The events must be the changes.
func TestObservationsShowTheTruth(t *testing.T) {
	t.Parallel()
	policies := []string{"none", "quarantine", "reject"}
	rapid.Check(t, func(rt *rapid.T) {
		var history []truth
		at, policy := 0, 0
		for range rapid.IntRange(0, 4).Draw(rt, "changes") {
			at += rapid.IntRange(96, 200).Draw(rt, "hours")
			next := (policy + rapid.IntRange(1, 2).Draw(rt, "policy")) % 3
			history = append(history, truth{at, policies[policy], policies[next]})
			policy = next
		}
		end := at + 96
		during := func(hour int) string {
			current := "none"
			for _, change := range history {
				if change.at <= hour {
					current = change.after
				}
			}
			return current
		}
		var all []timeline.Observation
		polls := rapid.Bool().Draw(rt, "polls")
		if polls {
			for h := range end {
				all = append(all, poll(fmt.Sprint("poll ", h), "v=DMARC1; p="+during(h), h))
			}
		}
		for _, reporter := range []string{"x", "y", "z"} {
			shift, missing := rapid.IntRange(0, 23).Draw(rt, "zone"), false
			for h := shift; h+24 <= end; h += 24 {
				// A reporter never misses two days in a row, and not its first one.
				if missing = h > shift && !missing && rapid.IntRange(0, 4).Draw(rt, "missing") == 0; !missing {
					looked := h + rapid.IntRange(0, 23).Draw(rt, "looked")
					all = append(all, stated(fmt.Sprint(reporter, h), reporter, during(looked), h, h+24, h+24+rapid.IntRange(1, 300).Draw(rt, "late")))
				}
			}
		}
		seed := rapid.Uint64().Draw(rt, "order")
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		sightings := timeline.Sightings(all)
		events := timeline.Fold(sightings)
		if len(events) != len(history) {
			rt.Fatalf("%d events, want %d: %+v", len(events), len(history), events)
		}
		limit := 72
		if polls {
			limit = 1
		}
		for i, e := range events {
			change := history[i]
			if *e.Old != "v=DMARC1; p="+change.before || *e.New != "v=DMARC1; p="+change.after || hours(e.OccurredAt) < change.at || hours(e.OccurredAt) > change.at+limit || (e.Origin == timeline.DNS) != polls {
				rt.Fatalf("change %+v: event %s", change, brief(e))
			}
		}
		rand.New(rand.NewPCG(seed+1, seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if d := cmp.Diff(sightings, timeline.Sightings(all)); d != "" {
			rt.Fatalf("another order: %s", d)
		}
	})
}
