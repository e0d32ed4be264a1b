package predicatetest

import (
	"github.com/mailhelm/mailhelm/core/predicate"
	"pgregory.net/rapid"
)

// The names that every generated schema has, of attributes, activities, properties, topics,
// lists and segments.
var (
	attributeNames = []string{"plan", "mrr", "vip", "joined", "tier", "count", "score", "renews_at"}
	// Activities has the names of activities. The last is an activity of a website, which
	// has built-in properties.
	Activities    = []string{"purchase", "Order paid", "site_visit"}
	propertyNames = []string{"amount", "sku", "gift", "due_at", "count", "Order id"}
	topicNames    = []string{"news", "offers"}
	// Lists and Segments map keys of lists and segments to their ids.
	Lists    = map[string]string{"vip": "0190a000-0000-7000-8000-000000000001", "beta users": "0190a000-0000-7000-8000-000000000002"}
	Segments = map[string]string{"engaged": "0190a000-0000-7000-8000-000000000003", "churned": "0190a000-0000-7000-8000-000000000004"}
)

var types = []predicate.Type{predicate.String, predicate.Number, predicate.Bool, predicate.Datetime}

// Schemas returns a generator of schemas. They have at least one attribute of each type,
// and for each activity at least one registered property of each type.
func Schemas() *rapid.Generator[predicate.Schema] {
	return rapid.Custom(func(t *rapid.T) predicate.Schema {
		s := predicate.Schema{
			Attributes: map[string]predicate.AttributeType{},
			Properties: map[predicate.ActivityProperty]predicate.Type{},
			Topics:     map[string]bool{},
			Lists:      Lists,
			Segments:   Segments,
		}
		for i, name := range attributeNames {
			s.Attributes[name] = drawAttribute(t, i)
		}
		for _, activity := range Activities {
			for i, name := range propertyNames {
				s.Properties[predicate.ActivityProperty{Activity: activity, Property: name}] = drawType(t, i)
			}
		}
		for _, topic := range topicNames {
			s.Topics[topic] = rapid.Bool().Draw(t, "in by default")
		}
		return s
	})
}

// drawType returns the element at index i of the list types, or a random element if i is
// beyond its end.
func drawType(t *rapid.T, i int) predicate.Type {
	if i < len(types) {
		return types[i]
	}
	return rapid.SampledFrom(types).Draw(t, "type")
}

func drawAttribute(t *rapid.T, i int) predicate.AttributeType {
	if i == len(types) {
		return predicate.AttributeType{Type: predicate.Enum, EnumValues: []string{"pro", "team", "a"}}
	}
	return predicate.AttributeType{Type: drawType(t, i)}
}
