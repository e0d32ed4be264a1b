package readiness_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"pgregory.net/rapid"
)

// event returns a change of the record of example.com some days ago. A record is nil if its
// text is empty.
func event(before, after string, days int) timeline.Event {
	e := timeline.Event{ID: before + after, Kind: timeline.PolicyChange, Subject: "_dmarc.example.com", OccurredAt: daysAgo(days)}
	if before != "" {
		e.Old = &before
	}
	if after != "" {
		e.New = &after
	}
	return e
}

func TestPolicySince(t *testing.T) {
	t.Parallel()
	setup := event(atNone, atQuarantine, 3)
	setup.Kind = timeline.SetupChange
	other := event(atNone, atQuarantine, 3)
	other.Subject = "_dmarc.example.org"
	for _, tc := range []struct {
		rule, present string
		events        []timeline.Event
		days          int
	}{
		{"no change is known", atNone, nil, 99},
		{"the change to the present policy", atQuarantine, []timeline.Event{event(atNone, atQuarantine, 40)}, 40},
		{"the latest of several", atReject, []timeline.Event{event(atQuarantine, atReject, 5), event(atNone, atQuarantine, 40), event("", atNone, 80)}, 5},
		{"a change of other tags does not count", atQuarantine, []timeline.Event{event(atNone, atQuarantine, 40), event(atQuarantine, atQuarantine+"; adkim=s", 5)}, 40},
		{"the end of testing counts", atQuarantine, []timeline.Event{event(atNone, atQuarantine+"; t=y", 40), event(atQuarantine+"; t=y", atQuarantine, 5)}, 5},
		{"the beginning of testing does not count at none", atNone + "; t=y", []timeline.Event{event("", atNone, 40), event(atNone, atNone+"; t=y", 5)}, 40},
		{"a change of sp counts", atQuarantine, []timeline.Event{event("v=DMARC1; p=quarantine; sp=none", atQuarantine, 5)}, 5},
		{"the first record", atNone, []timeline.Event{event("", atNone, 40)}, 40},
		{"the end of the record", "", []timeline.Event{event("", atNone, 40), event(atNone, "", 5)}, 5},
		{"a text that is no record is none", "", []timeline.Event{event(atNone, "v=spf1 -all", 5)}, 5},
		{"a timeline that is older than DNS", atReject, []timeline.Event{event(atNone, atQuarantine, 40)}, -1},
		{"a change of another record does not count", atQuarantine, []timeline.Event{setup, other}, 99},
	} {
		want := time.Time{}
		if tc.days >= 0 {
			want = daysAgo(tc.days)
		}
		if got := readiness.PolicySince(published(t, tc.present), tc.events, daysAgo(99)); !got.Equal(want) {
			t.Errorf("%s: since %s, want %s", tc.rule, got, want)
		}
	}
}

// TestPolicySinceOfSubdomain checks a domain that inherits its record: sp is its policy.
func TestPolicySinceOfSubdomain(t *testing.T) {
	t.Parallel()
	const weak, strong = "v=DMARC1; p=reject; sp=none", "v=DMARC1; p=reject; sp=quarantine"
	d := discovered(t, zone{"_dmarc.example.com": strong, "mail.example.com": ""}, "mail.example.com")
	events := []timeline.Event{event(weak, strong, 20), event("v=DMARC1; p=quarantine; sp=quarantine", strong, 5)}
	if got := readiness.PolicySince(d, events, daysAgo(99)); !got.Equal(daysAgo(20)) {
		t.Errorf("since %s", got)
	}
}

// TestPolicySinceByDays draws histories of a record and walks back day by day.
func TestPolicySinceByDays(t *testing.T) {
	t.Parallel()
	records := []string{"", atNone, atNone + "; t=y", atQuarantine, atQuarantine + "; t=y", atQuarantine + "; adkim=s", atReject, "v=DMARC1; p=reject; sp=none"}
	rapid.Check(t, func(rt *rapid.T) {
		byDay := rapid.SliceOfN(rapid.SampledFrom(records), 2, 20).Draw(rt, "records, the latest first")
		var events []timeline.Event
		for n := range byDay[1:] {
			if byDay[n] != byDay[n+1] {
				e := event(byDay[n+1], byDay[n], n)
				e.ID += time.Duration(n).String()
				events = append(events, e)
			}
		}
		present := readiness.HandlingOf(published(t, byDay[0]))
		want := len(byDay) - 1
		for n := range byDay {
			if readiness.HandlingOf(published(t, byDay[n])) != present {
				want = n - 1
				break
			}
		}
		seed := rapid.Uint64().Draw(rt, "order")
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		if got := readiness.PolicySince(published(t, byDay[0]), events, daysAgo(len(byDay)-1)); !got.Equal(daysAgo(want)) {
			rt.Fatalf("since %s, want %s", got, daysAgo(want))
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule       string
		last       time.Time
		retryAfter time.Duration
	}{
		{"no measurement yet", time.Time{}, 0},
		{"an hour ago", now.Add(-time.Hour), 0},
		{"a day ago", now.Add(-24 * time.Hour), 0},
		{"a moment less than an hour ago", now.Add(-time.Hour + 1), time.Second},
		{"half a second is rounded up", now.Add(-30*time.Minute - 500*time.Millisecond), 30 * time.Minute},
		{"now", now, time.Hour},
		{"in the future: at most an hour", now.Add(time.Minute), time.Hour},
	} {
		if got := readiness.RetryAfter(tc.last, now); got != tc.retryAfter {
			t.Errorf("%s: %s, want %s", tc.rule, got, tc.retryAfter)
		}
	}
}
