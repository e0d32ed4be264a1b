package predicatetest

import (
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"pgregory.net/rapid"
)

// Predicates returns a generator of predicates in canonical spelling that compile with the
// schema. They range from single tests to trees of three levels.
func Predicates(s predicate.Schema) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		d := drawer{schema: s, events: predicate.MaxEventTerms, memberships: predicate.MaxMembership}
		tree := predicate.Tree{Root: d.node(t, rapid.IntRange(0, 3).Draw(t, "levels"))}
		return tree.String()
	})
}

// drawer generates one predicate. events and memberships are the numbers of event tests and
// membership tests that it may still add within the limits of the language.
type drawer struct {
	schema              predicate.Schema
	events, memberships int
	event               *predicate.Event
}

func (d *drawer) node(t *rapid.T, levels int) predicate.Node {
	if levels == 0 {
		return d.test(t)
	}
	terms := func() []predicate.Node {
		nodes := make([]predicate.Node, 0, 3)
		for range rapid.IntRange(2, 3).Draw(t, "terms") {
			nodes = append(nodes, d.node(t, levels-1))
		}
		return nodes
	}
	switch rapid.IntRange(0, 4).Draw(t, "node") {
	case 0, 1:
		return &predicate.And{Terms: terms()}
	case 2, 3:
		return &predicate.Or{Terms: terms()}
	default:
		return &predicate.Not{Term: d.node(t, levels-1)}
	}
}

func (d *drawer) test(t *rapid.T) predicate.Node {
	if d.event != nil {
		return d.fieldTest(t)
	}
	switch choice := rapid.IntRange(0, 9).Draw(t, "test"); {
	case choice < 5 && d.events > 0:
		d.events--
		return d.eventTest(t)
	case choice == 5 && d.memberships > 0:
		d.memberships--
		return d.membership(t)
	case choice == 6:
		return d.consent(t)
	}
	return d.fieldTest(t)
}

func (d *drawer) field(t *rapid.T) predicate.Field {
	if d.event != nil {
		name := rapid.SampledFrom(d.schema.PropertyNames(*d.event)).Draw(t, "property")
		of, _ := d.schema.PropertyType(*d.event, name)
		return predicate.Field{Source: predicate.Property, Name: name, Type: of}
	}
	if rapid.IntRange(0, 9).Draw(t, "email") == 0 {
		return predicate.Field{Source: predicate.Email, Name: "email", Type: predicate.String}
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(d.schema.Attributes))).Draw(t, "attribute")
	return predicate.Field{Name: name, Type: d.schema.Attributes[name].Type}
}

func (d *drawer) fieldTest(t *rapid.T) predicate.Node {
	f := d.field(t)
	choice := rapid.IntRange(0, 7).Draw(t, "form")
	isText := f.Type == predicate.String || f.Type == predicate.Enum
	switch {
	case choice == 0:
		want := rapid.Bool().Draw(t, "known")
		return &predicate.Known{Field: f, Want: want, Prefix: want && rapid.Bool().Draw(t, "has")}
	case choice == 1:
		values := make([]predicate.Value, 0, 4)
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			values = append(values, drawValue(t, f.Type))
		}
		return &predicate.In{Field: f, Values: values}
	case choice < 5 && isText:
		how := rapid.SampledFrom([]predicate.MatchKind{predicate.StartsWith, predicate.EndsWith, predicate.Contains}).Draw(t, "how")
		return &predicate.Match{Field: f, How: how, Text: drawText(t)}
	case choice < 5 && f.Type == predicate.Datetime && f.Source == predicate.Attribute:
		return d.age(t, f)
	}
	if isText || f.Type == predicate.Bool {
		return &predicate.Compare{Field: f, Op: drawOp(t, predicate.NotEqual), Value: drawValue(t, f.Type)}
	}
	value := drawValue(t, f.Type)
	if f.Type == predicate.Datetime {
		value.Moment = drawMoment(t)
	}
	return &predicate.Compare{Field: f, Op: drawOp(t, predicate.GreaterOrEqual), Value: value}
}

func drawOp(t *rapid.T, last predicate.Op) predicate.Op {
	return predicate.Op(rapid.IntRange(int(predicate.Equal), int(last)).Draw(t, "op"))
}

func (d *drawer) age(t *rapid.T, f predicate.Field) predicate.Node {
	low, high := drawDuration(t), drawDuration(t)
	if !rapid.Bool().Draw(t, "between") {
		return &predicate.Age{Field: f, Op: drawOp(t, predicate.GreaterOrEqual), Low: low}
	}
	if low.Micros() > high.Micros() {
		low, high = high, low
	}
	return &predicate.Age{Field: f, Between: true, Low: low, High: high}
}

func drawMoment(t *rapid.T) predicate.Moment {
	switch rapid.IntRange(0, 4).Draw(t, "moment") {
	case 0:
		return predicate.Moment{Relative: true}
	case 1, 2:
		span := drawDuration(t)
		return predicate.Moment{Relative: true, Micros: -span.Micros(), Span: span}
	case 3:
		span := drawDuration(t)
		return predicate.Moment{Relative: true, Micros: span.Micros(), Span: span}
	default:
		return TimeValue(time.UnixMicro(drawMicros(t))).Moment
	}
}

func (d *drawer) eventTest(t *rapid.T) predicate.Node {
	test := &predicate.EventTest{
		Kind:   predicate.EventTestKind(rapid.IntRange(int(predicate.Count), int(predicate.First)).Draw(t, "kind")),
		Source: d.source(t),
	}
	if test.Kind >= predicate.Sum && test.Kind <= predicate.Max {
		numeric := d.numbersOf(test.Source.Event)
		if len(numeric) == 0 {
			test.Kind = predicate.Count
		} else {
			test.Field = predicate.Field{Source: predicate.Property, Name: rapid.SampledFrom(numeric).Draw(t, "figure"), Type: predicate.Number}
		}
	}
	switch test.Kind {
	case predicate.Exists:
	case predicate.Last, predicate.First:
		test.Op, test.Time = drawOp(t, predicate.GreaterOrEqual), drawMoment(t)
	case predicate.Count:
		test.Op, test.Number = drawOp(t, predicate.GreaterOrEqual), float64(rapid.IntRange(-1, 3).Draw(t, "count"))
	default:
		test.Op, test.Number = drawOp(t, predicate.GreaterOrEqual), drawNumber(t)
	}
	return test
}

func (d *drawer) numbersOf(e predicate.Event) []string {
	var numeric []string
	for _, name := range d.schema.PropertyNames(e) {
		if of, _ := d.schema.PropertyType(e, name); of == predicate.Number {
			numeric = append(numeric, name)
		}
	}
	return numeric
}

func (d *drawer) source(t *rapid.T) predicate.EventSource {
	s := predicate.EventSource{Event: drawEvent(t)}
	if rapid.Bool().Draw(t, "where") {
		d.event = &s.Event
		s.Where = d.node(t, rapid.IntRange(0, 2).Draw(t, "levels of where"))
		d.event = nil
	}
	if rapid.IntRange(0, 2).Draw(t, "within") == 0 {
		s.HasWithin, s.Within = true, drawDuration(t)
	}
	if rapid.IntRange(0, 3).Draw(t, "between") == 0 {
		from, until := drawMicros(t), drawMicros(t)
		s.HasBetween, s.Between = true, predicate.Span{From: min(from, until), Until: max(from, until) + 1}
	}
	return s
}

func (d *drawer) consent(t *rapid.T) predicate.Node {
	c := &predicate.Consent{Kind: predicate.ConsentKind(rapid.IntRange(int(predicate.Subscribed), int(predicate.Suppressed)).Draw(t, "consent"))}
	if c.Kind == predicate.Subscribed || c.Kind == predicate.OptedOut {
		c.Topic = rapid.SampledFrom(slices.Sorted(maps.Keys(d.schema.Topics))).Draw(t, "topic")
	}
	return c
}

func (d *drawer) membership(t *rapid.T) predicate.Node {
	m := &predicate.Membership{Segment: rapid.Bool().Draw(t, "segment")}
	keys := d.schema.Lists
	if m.Segment {
		keys = d.schema.Segments
	}
	m.Key = rapid.SampledFrom(slices.Sorted(maps.Keys(keys))).Draw(t, "key")
	return m
}
