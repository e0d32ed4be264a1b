package predicate

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// References lists the parts of a contact that a predicate reads. Each name occurs once,
// and names are sorted.
type References struct {
	// Attributes has the names of attributes, without the built-in email.
	Attributes []string
	// Email is true if the predicate tests attr.email.
	Email bool
	// Topics has names of topics.
	Topics []string
	// Consent is true if the predicate tests topics or the contact's global opt-out.
	Consent bool
	// Suppression is true if the predicate tests whether the address is suppressed.
	Suppression bool
	// Lists and Segments have ids.
	Lists, Segments []string
	// Events has the kinds of events that event tests read.
	Events []Event
	// Properties has the registered properties of activities, without the built-in ones.
	Properties []ActivityProperty
}

// References returns the parts of a contact that the predicate reads. For one contact, the
// predicate's result changes only if one of these parts changes or time passes.
func (c *Checked) References() References {
	var r References
	properties, events := map[ActivityProperty]bool{}, map[Event]bool{}
	names := map[string]map[string]bool{"attribute": {}, "topic": {}, "list": {}, "segment": {}}
	property := func(e Event, f Field) {
		if _, builtIn := (Schema{}).PropertyType(e, f.Name); !builtIn {
			properties[ActivityProperty{e.Activity, f.Name}] = true
		}
	}
	walk(c.Root, nil, func(n Node, event *Event) {
		if f, ok := FieldOf(n); ok {
			switch f.Source {
			case Email:
				r.Email = true
			case Attribute:
				names["attribute"][f.Name] = true
			case Property:
				property(*event, f)
			}
		}
		switch n := n.(type) {
		case *EventTest:
			events[n.Source.Event] = true
			if n.Field.Name != "" {
				property(n.Source.Event, n.Field)
			}
		case *Consent:
			r.consent(n, names["topic"])
		case *Membership:
			if n.Segment {
				names["segment"][n.ID] = true
			} else {
				names["list"][n.ID] = true
			}
		}
	})
	r.Attributes, r.Topics = sortedKeys(names["attribute"]), sortedKeys(names["topic"])
	r.Lists, r.Segments = sortedKeys(names["list"]), sortedKeys(names["segment"])
	r.Events = slices.SortedFunc(maps.Keys(events), compareEvents)
	r.Properties = slices.SortedFunc(maps.Keys(properties), compareProperties)
	return r
}

func compareEvents(a, b Event) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Activity, b.Activity))
}

func compareProperties(a, b ActivityProperty) int {
	return cmp.Or(cmp.Compare(a.Activity, b.Activity), cmp.Compare(a.Property, b.Property))
}

// Union returns the parts of a contact that at least one of several predicates reads. all
// has the references of each predicate.
func Union(all ...References) References {
	var u References
	for _, r := range all {
		u.Attributes, u.Topics = append(u.Attributes, r.Attributes...), append(u.Topics, r.Topics...)
		u.Lists, u.Segments = append(u.Lists, r.Lists...), append(u.Segments, r.Segments...)
		u.Events, u.Properties = append(u.Events, r.Events...), append(u.Properties, r.Properties...)
		u.Email, u.Consent, u.Suppression = u.Email || r.Email, u.Consent || r.Consent, u.Suppression || r.Suppression
	}
	u.Attributes, u.Topics = sortedOnce(u.Attributes, strings.Compare), sortedOnce(u.Topics, strings.Compare)
	u.Lists, u.Segments = sortedOnce(u.Lists, strings.Compare), sortedOnce(u.Segments, strings.Compare)
	u.Events, u.Properties = sortedOnce(u.Events, compareEvents), sortedOnce(u.Properties, compareProperties)
	return u
}

// sortedOnce sorts values in place and returns each of them once.
func sortedOnce[V comparable](values []V, compare func(a, b V) int) []V {
	slices.SortFunc(values, compare)
	return slices.Compact(values)
}

// SegmentKeys returns the keys of segments in the predicate, each once and sorted. They are
// not resolved: a segment with such a key may not exist.
func (t *Tree) SegmentKeys() []string {
	keys := map[string]bool{}
	walk(t.Root, nil, func(n Node, _ *Event) {
		if m, ok := n.(*Membership); ok && m.Segment {
			keys[m.Key] = true
		}
	})
	return sortedKeys(keys)
}

func (r *References) consent(n *Consent, topics map[string]bool) {
	if n.Kind == Suppressed {
		r.Suppression = true
		return
	}
	r.Consent = true
	if n.Topic != "" {
		topics[n.Topic] = true
	}
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// EvalClass says what can change which contacts match a predicate: data, time or both.
type EvalClass string

// The classes.
const (
	// Incremental predicates change their result only if data of the contact changes,
	// including its events.
	Incremental EvalClass = "incremental"
	// Sweep predicates consist only of tests whose result changes as time passes: now,
	// within, last, first and ages.
	Sweep EvalClass = "sweep"
	// Both is the class of predicates that have tests of the classes Incremental and Sweep.
	Both EvalClass = "both"
)

// EvalClass returns whether changes of data, the passing of time or both can change which
// contacts match the predicate.
func (c *Checked) EvalClass() EvalClass {
	var timed, still bool
	walk(c.Root, nil, func(n Node, event *Event) {
		switch n := n.(type) {
		case *And, *Or, *Not:
			return
		case *EventTest:
			if passes(n) {
				timed = true
				return
			}
		default:
			if event != nil || isTimed(n) {
				timed = timed || isTimed(n)
				return
			}
		}
		still = true
	})
	switch {
	case timed && still:
		return Both
	case timed:
		return Sweep
	}
	return Incremental
}

// passes reports whether the result of an event test, or of its where-condition, can change
// as time passes.
func passes(n *EventTest) bool {
	timed := n.Source.HasWithin || n.Kind == Last || n.Kind == First
	if n.Source.Where != nil {
		walk(n.Source.Where, &n.Source.Event, func(inner Node, _ *Event) { timed = timed || isTimed(inner) })
	}
	return timed
}

func isTimed(n Node) bool {
	switch n := n.(type) {
	case *Age:
		return true
	case *Compare:
		return n.Value.Type == Datetime && n.Value.Moment.Relative
	}
	return false
}
