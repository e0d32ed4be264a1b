package engine_test

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"pgregory.net/rapid"
)

// change is a change of the data of a contact.
type change func(s *predicate.Subject, now time.Time)

// changes returns a generator of changes.
func changes() *rapid.Generator[change] {
	set := func(name string, v predicate.Value) change {
		return func(s *predicate.Subject, _ time.Time) { s.Attributes[name] = v }
	}
	return rapid.Custom(func(t *rapid.T) change {
		flag := rapid.Bool().Draw(t, "flag")
		switch rapid.IntRange(0, 12).Draw(t, "change") {
		case 0:
			return set("plan", predicate.StringValue(map[bool]string{true: "pro", false: "free"}[flag]))
		case 1:
			return set("visits", predicate.NumberValue(float64(rapid.IntRange(0, 5).Draw(t, "visits"))))
		case 2:
			return set("vip", predicate.BoolValue(flag))
		case 3:
			after := time.Duration(rapid.IntRange(-48, 96).Draw(t, "hours")) * time.Hour
			return func(s *predicate.Subject, now time.Time) { s.Attributes["renewal"] = date(now.Add(after)) }
		case 4:
			name := rapid.SampledFrom([]string{"plan", "visits", "vip", "renewal", "city"}).Draw(t, "name")
			return func(s *predicate.Subject, _ time.Time) { delete(s.Attributes, name) }
		case 5:
			zone := rapid.SampledFrom([]string{"Europe/Paris", "Australia/Lord_Howe", "America/New_York", "nowhere"}).Draw(t, "zone")
			return set(engine.TimezoneAttribute, predicate.StringValue(zone))
		case 6:
			return func(s *predicate.Subject, _ time.Time) { s.UnsubscribedFromAll = flag }
		case 7:
			return func(s *predicate.Subject, _ time.Time) { s.Suppressed = flag }
		case 8:
			topic := rapid.SampledFrom([]string{"news", "offers"}).Draw(t, "topic")
			return func(s *predicate.Subject, _ time.Time) { s.Topics[topic] = flag }
		case 9:
			return func(s *predicate.Subject, _ time.Time) { s.Lists["list-1"] = flag }
		default:
			return func(s *predicate.Subject, now time.Time) {
				s.Events = append(s.Events, predicate.Occurrence{Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: "purchase"}, At: now.UnixMicro()})
			}
		}
	})
}

func emptySubject() *predicate.Subject {
	return &predicate.Subject{Email: "ann@example.com", Attributes: map[string]predicate.Value{}, Topics: map[string]bool{}, Lists: map[string]bool{}}
}
