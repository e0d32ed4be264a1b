package predicatetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
	"pgregory.net/rapid"
)

// Subjects returns a generator of n contacts with distinct addresses and 0 to 6 events
// each. Most values have the types of the schema; some are absent or of another type.
func Subjects(s predicate.Schema, n int) *rapid.Generator[[]predicate.Subject] {
	return rapid.Custom(func(t *rapid.T) []predicate.Subject {
		subjects := make([]predicate.Subject, 0, n)
		for i := range n {
			subjects = append(subjects, drawSubject(t, s, i))
		}
		return subjects
	})
}

func drawSubject(t *rapid.T, s predicate.Schema, i int) predicate.Subject {
	domain := rapid.SampledFrom([]string{"example.com", "a.example", "pro.example"}).Draw(t, "domain")
	subject := predicate.Subject{
		Email:               fmt.Sprintf("a%d@%s", i, domain),
		Attributes:          map[string]predicate.Value{},
		Topics:              map[string]bool{},
		Lists:               drawMemberships(t, s.Lists),
		Segments:            drawMemberships(t, s.Segments),
		UnsubscribedFromAll: rapid.IntRange(0, 3).Draw(t, "unsubscribed") == 0,
		Stub:                rapid.IntRange(0, 3).Draw(t, "stub") == 0,
		Suppressed:          rapid.IntRange(0, 3).Draw(t, "suppressed") == 0,
	}
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		if v, ok := drawStored(t, s.Attributes[name].Type); ok {
			subject.Attributes[name] = v
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(s.Topics)) {
		if rapid.Bool().Draw(t, "explicit") {
			subject.Topics[topic] = rapid.Bool().Draw(t, "in")
		}
	}
	for range rapid.IntRange(0, 6).Draw(t, "events") {
		subject.Events = append(subject.Events, drawOccurrence(t, s))
	}
	return subject
}

func drawMemberships(t *rapid.T, ids map[string]string) map[string]bool {
	member := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(ids)) {
		if rapid.Bool().Draw(t, "member") {
			member[ids[key]] = true
		}
	}
	return member
}

func drawEvent(t *rapid.T) predicate.Event {
	if rapid.Bool().Draw(t, "activity") {
		return predicate.Event{Kind: predicate.ActivityEvent, Activity: rapid.SampledFrom(Activities).Draw(t, "name")}
	}
	return predicate.Event{Kind: predicate.EventKind(rapid.IntRange(int(predicate.Send), int(predicate.DeliveryDelay)).Draw(t, "event"))}
}

func drawOccurrence(t *rapid.T, s predicate.Schema) predicate.Occurrence {
	o := predicate.Occurrence{Event: drawEvent(t), At: drawMicros(t), Properties: map[string]predicate.Value{}}
	for _, name := range s.PropertyNames(o.Event) {
		of, _ := s.PropertyType(o.Event, name)
		// Mailhelm itself writes message events, so values always have the type of their
		// property
		if o.Event.Kind != predicate.ActivityEvent {
			if rapid.IntRange(0, 3).Draw(t, "known") > 0 {
				o.Properties[name] = drawValue(t, of)
			}
			continue
		}
		if v, ok := drawStored(t, of); ok {
			o.Properties[name] = v
		}
	}
	return o
}
