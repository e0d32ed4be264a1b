package demodata

import (
	"encoding/json"
	"testing"
	"time"
)

// TestActivitiesOfTheDemo checks that the activities are in the past, have valid JSON, and
// have each promoted property.
func TestActivitiesOfTheDemo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 12, 15, 30, 0, 0, time.UTC)
	seen := map[string]int{}
	for _, a := range activitiesOf(allPeople(now), now) {
		if a.OccurredAt.After(now) || now.Sub(a.OccurredAt) > activityDays*24*time.Hour {
			t.Errorf("%s at %s", a.Name, a.OccurredAt)
		}
		var properties map[string]any
		if err := json.Unmarshal(a.Properties, &properties); err != nil {
			t.Errorf("%s: %v", a.Properties, err)
		}
		for name := range properties {
			seen[a.Name+" "+name]++
		}
	}
	for _, p := range promotedProperties(now) {
		if seen[p.ActivityName+" "+p.Property] == 0 {
			t.Errorf("no activity has %s of %s", p.Property, p.ActivityName)
		}
	}
}
