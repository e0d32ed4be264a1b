package demodata

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/mailhistory"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 15, 30, 0, 0, time.UTC)
	events := historyAt(now)
	if !slices.EqualFunc(events, historyAt(now), func(a, b mailhistory.Event) bool { return a.At.Equal(b.At) && string(a.Raw) == string(b.Raw) }) {
		t.Error("the history differs from one time to the next")
	}
	count, badDay := map[string]int{}, map[string]int{}
	last := now.AddDate(0, 0, -mailhistory.Days-1)
	for _, e := range events {
		var event struct {
			EventType string
			Mail      struct {
				MessageID string
				Timestamp time.Time
			}
		}
		if err := json.Unmarshal(e.Raw, &event); err != nil {
			t.Fatal(err)
		}
		if e.At.Before(last) || e.At.After(now) || event.Mail.Timestamp.After(e.At) {
			t.Fatalf("%s at %v, after one at %v", event.EventType, e.At, last)
		}
		last = e.At
		count[event.EventType]++
		if event.Mail.Timestamp.Truncate(24 * time.Hour).Equal(now.AddDate(0, 0, -21).Truncate(24 * time.Hour)) {
			badDay[event.EventType]++
		}
	}
	share := func(of map[string]int, kind string) float64 { return float64(of[kind]) / float64(of["Send"]) }
	for kind, want := range map[string][2]float64{
		"Delivery": {0.965, 0.985}, "Bounce": {0.009, 0.019}, "Complaint": {0.0001, 0.001}, "Open": {0.35, 0.55}, "Click": {0.08, 0.2},
	} {
		if got := share(count, kind); got < want[0] || got > want[1] {
			t.Errorf("%s is %.4f of all messages, want %v", kind, got, want)
		}
	}
	if got := share(badDay, "Bounce"); got < 0.15 {
		t.Errorf("on the bad day %.3f bounced", got)
	}
	t.Logf("%d events: %v, bad day %v", len(events), count, badDay)
	if count["Send"] < 5_500 || count["Send"] > 6_800 || len(events) < 14_000 || len(events) > 17_500 || count["DeliveryDelay"] == 0 || count["Reject"] == 0 || count["Rendering Failure"] == 0 {
		t.Errorf("%d events: %v", len(events), count)
	}
}

// TestLastDaysHaveEveryKindOfEvent checks that the 29 days before the start of the demo have
// each kind of event, for a start on each day of the week. The start is ten minutes after
// midnight, when the current day has no mail yet. The history of another week has the same
// events at the same times of the week.
func TestLastDaysHaveEveryKindOfEvent(t *testing.T) {
	t.Parallel()
	for day := range 7 {
		now := time.Date(2026, 3, 1+day, 0, 10, 0, 0, time.UTC)
		seen := map[string]bool{}
		for _, e := range historyAt(now) {
			var event struct{ EventType string }
			if err := json.Unmarshal(e.Raw, &event); err != nil {
				t.Fatal(err)
			}
			if e.At.After(now.AddDate(0, 0, -29)) {
				seen[event.EventType] = true
			}
		}
		for _, kind := range []string{"Send", "Delivery", "DeliveryDelay", "Bounce", "Complaint", "Open", "Click", "Reject", "Rendering Failure"} {
			if !seen[kind] {
				t.Errorf("on a %s the last days have no %s", now.Weekday(), kind)
			}
		}
	}
}
