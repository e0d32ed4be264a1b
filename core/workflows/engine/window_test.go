package engine_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/engine/enginetest"
)

// sendsAt returns when a run that comes to a send at the time passes the message on.
func sendsAt(t *testing.T, window, zone string, at time.Time) time.Time {
	t.Helper()
	j := beginAt(t, at, "send window "+window+" in contact timezone\nsend \"welcome\"")
	if zone != "" {
		j.set(engine.TimezoneAttribute, predicate.StringValue(zone))
	}
	j.advance()
	if j.state.Phase == engine.Delayed {
		j.wantPhase("0", engine.Delayed).awake()
	}
	if j.state.Phase != engine.Sending || len(j.effects) != 1 {
		t.Fatalf("%s %s at %v: the run is %+v", window, zone, at, j.state)
	}
	return j.facts.Now
}

func TestSendWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ window, zone, at, want string }{
		{"9am-6pm", "", "2026-06-15T12:00:00Z", "2026-06-15T12:00:00Z"},
		{"9am-6pm", "", "2026-06-15T09:00:00Z", "2026-06-15T09:00:00Z"},
		{"9am-6pm", "", "2026-06-15T08:59:59Z", "2026-06-15T09:00:00Z"},
		{"9am-6pm", "", "2026-06-15T17:59:59Z", "2026-06-15T17:59:59Z"},
		{"9am-6pm", "", "2026-06-15T18:00:00Z", "2026-06-16T09:00:00Z"},
		{"9am-6pm", "Europe/Paris", "2026-06-15T18:00:00Z", "2026-06-16T07:00:00Z"},
		{"9am-6pm", "America/New_York", "2026-06-15T12:30:00Z", "2026-06-15T13:00:00Z"},
		{"9am-6pm", "Australia/Lord_Howe", "2026-06-15T12:00:00Z", "2026-06-15T22:30:00Z"},
		{"9am-6pm", "no timezone", "2026-06-15T18:00:00Z", "2026-06-16T09:00:00Z"},
		{"9am-6pm", "Local", "2026-06-15T18:00:00Z", "2026-06-16T09:00:00Z"},
		{"9am-6pm", "../UTC", "2026-06-15T18:00:00Z", "2026-06-16T09:00:00Z"},
		// Windows past midnight.
		{"10pm-2am", "", "2026-06-15T12:00:00Z", "2026-06-15T22:00:00Z"},
		{"10pm-2am", "", "2026-06-15T23:59:00Z", "2026-06-15T23:59:00Z"},
		{"10pm-2am", "", "2026-06-16T01:59:00Z", "2026-06-16T01:59:00Z"},
		{"10pm-2am", "", "2026-06-16T02:00:00Z", "2026-06-16T22:00:00Z"},
		{"12am-6am", "Europe/Paris", "2026-06-15T12:00:00Z", "2026-06-15T22:00:00Z"},
		// Summer time begins: 2:00 becomes 3:00 (Lord Howe: 2:00 becomes 2:30).
		{"2:30-4:00", "Europe/Paris", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
		{"2:00-2:30", "Europe/Paris", "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"},
		{"9am-6pm", "Europe/Paris", "2026-03-28T20:00:00Z", "2026-03-29T07:00:00Z"},
		{"2:30-4:00", "America/New_York", "2026-03-08T05:00:00Z", "2026-03-08T07:00:00Z"},
		{"2:10-2:20", "Australia/Lord_Howe", "2026-10-03T15:00:00Z", "2026-10-04T15:10:00Z"},
		{"2:15-2:45", "Australia/Lord_Howe", "2026-10-03T15:00:00Z", "2026-10-03T15:30:00Z"},
		// Summer time ends: 3:00 becomes 2:00 (New York: 2:00 becomes 1:00; Lord Howe: 2:00 becomes 1:30).
		{"2:30-2:40", "Europe/Paris", "2026-10-25T00:45:00Z", "2026-10-25T01:30:00Z"},
		{"2:30-2:40", "Europe/Paris", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"},
		{"1:30-2:30", "Europe/Paris", "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z"},
		{"9am-6pm", "Europe/Paris", "2026-10-24T20:00:00Z", "2026-10-25T08:00:00Z"},
		{"1:30-1:45", "America/New_York", "2026-11-01T05:50:00Z", "2026-11-01T06:30:00Z"},
		{"1:45-1:50", "Australia/Lord_Howe", "2026-04-04T14:55:00Z", "2026-04-04T15:15:00Z"},
		// Midnight does not exist on 6 September 2026 in Santiago.
		{"12:15am-12:20am", "America/Santiago", "2026-09-05T05:00:00Z", "2026-09-07T03:15:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := sendsAt(t, c.window, c.zone, at).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s in %q at %s: sent at %s, want %s", c.window, c.zone, c.at, got, c.want)
		}
	}
}

// TestSendWindowOpensAtFirstOpenMinute compares the opening with a search minute by minute, around all
// changes to and from summer time of a year.
func TestSendWindowOpensAtFirstOpenMinute(t *testing.T) {
	t.Parallel()
	windows := []struct {
		text        string
		from, until int
	}{{"1:50-2:20", 110, 140}, {"2:15-2:45", 135, 165}, {"11pm-1am", 1380, 60}, {"2:30-3:30", 150, 210}, {"3am-2am", 180, 120}}
	changes := map[string][]string{
		"Europe/Paris":        {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"},
		"America/New_York":    {"2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"},
		"Australia/Lord_Howe": {"2026-10-03T15:30:00Z", "2026-04-04T15:00:00Z"},
		"America/Santiago":    {"2026-09-06T04:00:00Z", "2026-04-05T03:00:00Z"},
	}
	for zone, times := range changes {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range times {
			at, err := time.Parse(time.RFC3339, change)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range windows {
				for from := at.Add(-26 * time.Hour); from.Before(at.Add(4 * time.Hour)); from = from.Add(17*time.Minute + 13*time.Second) {
					want := from
					for !enginetest.OpensIn(location, want, w.from, w.until) {
						want = want.Truncate(time.Minute).Add(time.Minute)
					}
					if got := sendsAt(t, w.text, zone, from); !got.Equal(want) {
						t.Fatalf("%s in %s at %v: sent at %v, want %v", w.text, zone, from.In(location), got.In(location), want.In(location))
					}
				}
			}
		}
	}
}
