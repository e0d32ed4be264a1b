package predicate

import (
	"cmp"
	"slices"
)

// Warning describes a predicate that is allowed but seldom intended.
type Warning struct {
	Line, Column int
	Kind         WarningKind
	Message      string
	// Suggestion is a replacement if it was not intended, where there is one.
	Suggestion string
}

// WarningKind is the kind of a warning.
type WarningKind string

// The kinds of warnings.
const (
	// WarnAbsence: contacts without a value, or without an event, do not match, although
	// the words sound as if they did.
	WarnAbsence WarningKind = "absence"
	// WarnEnumValue: an enum is compared with a text that is not among its values.
	WarnEnumValue WarningKind = "enum_value"
	// WarnActivity: an activity of that name was never seen.
	WarnActivity WarningKind = "unseen_activity"
)

// Lint returns the warnings about the predicate, in the order of the source. A predicate
// with warnings can be used.
func (c *Checked) Lint() []Warning {
	l := linter{tree: c.tree, warnings: slices.Clone(c.warnings)}
	l.node(c.Root, nil, false)
	slices.SortStableFunc(l.warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.warnings
}

// linter finds tests that seem true for an absent value and are Unknown.
type linter struct {
	tree     *Tree
	warnings []Warning
}

// subject is something that may be absent: an attribute by name, or the events of a
// source, as printed.
type subject struct{ attribute, events string }

// node walks n. guards has the subjects whose presence or absence is known wherever n
// decides. negated is true inside of a "not".
func (l *linter) node(n Node, guards []subject, negated bool) {
	switch n := n.(type) {
	case *And:
		l.terms(n.Terms, guards, true, negated)
	case *Or:
		l.terms(n.Terms, guards, false, negated)
	case *Not:
		l.node(n.Term, guards, true)
	case *Compare:
		if negated || n.Op == NotEqual {
			l.absentField(n, n.Field, guards)
		}
	case *In:
		if negated {
			l.absentField(n, n.Field, guards)
		}
	case *Match:
		if negated {
			l.absentField(n, n.Field, guards)
		}
	case *Age:
		l.absentField(n, n.Field, guards)
	case *EventTest:
		l.event(n, guards, negated)
	}
}

// terms walks the terms of one "and" or "or". Beside a test of presence in an "and", the
// other terms do not decide for contacts without the subject. Beside a test of absence
// in an "or", such contacts already match. Both also hold inside of a "not".
func (l *linter) terms(terms []Node, guards []subject, present, negated bool) {
	guards = slices.Clip(guards)
	for _, term := range terms {
		guards = append(guards, guardedSubjects(term, present)...)
	}
	for _, term := range terms {
		l.node(term, guards, negated)
	}
}

// guardedSubjects returns the subjects whose presence the term tests or, with present
// false, their absence.
func guardedSubjects(n Node, present bool) []subject {
	switch n := n.(type) {
	case *Not:
		return guardedSubjects(n.Term, !present)
	case *Known:
		if n.Want == present {
			return []subject{{attribute: n.Field.Name}}
		}
	case *EventTest:
		if n.Kind != Exists && n.Kind != Count {
			return nil
		}
		ofNone := n.Kind == Count && holds(n.Op, 0, n.Number)
		if ofNone == present {
			return nil
		}
		guards := []subject{{events: sourceText(n.Source)}}
		if present { // a test of some events implies that events of the kind exist
			guards = append(guards, subject{events: n.Source.Event.title()})
		}
		return guards
	}
	return nil
}

func sourceText(s EventSource) string {
	var p printer
	p.source(s)
	return p.String()
}

func (l *linter) absentField(n Node, f Field, guards []subject) {
	if f.Source != Attribute || slices.Contains(guards, subject{attribute: f.Name}) {
		return
	}
	l.warn(n, "contacts without "+f.title()+" are left out here", "has "+f.title()+" and, or: or "+f.title()+" is unknown")
}

// event warns of tests of a time or an aggregate, which are Unknown without events. It
// always warns of a time, and of an aggregate only inside of a "not".
func (l *linter) event(n *EventTest, guards []subject, negated bool) {
	figure := n.Kind >= Sum && n.Kind <= Max && (negated || n.Op == NotEqual)
	if n.Kind != Last && n.Kind != First && !figure {
		return
	}
	events := sourceText(n.Source)
	if slices.Contains(guards, subject{events: events}) {
		return
	}
	l.warn(n, "contacts without any such event are left out here", "exists("+events+") and, or: or not exists("+events+")")
}

func (l *linter) warn(n Node, message, suggestion string) {
	line, column := l.tree.Position(n.Pos())
	l.warnings = append(l.warnings, Warning{Line: line, Column: column, Kind: WarnAbsence, Message: message, Suggestion: suggestion})
}

// enumValue adds a warning about a value that an enum never has.
func (c *checker) enumValue(f Field, v Value) {
	registered := c.schema.Attributes[f.Name]
	if f.Source != Attribute || registered.Type != Enum || slices.Contains(registered.EnumValues, v.Text) {
		return
	}
	w := Warning{Kind: WarnEnumValue, Message: f.title() + " is never " + quote(v.Text), Suggestion: nearestWord(v.Text, registered.EnumValues)}
	w.Line, w.Column = c.tree.Position(f.Offset)
	c.warnings = append(c.warnings, w)
}

// warnUnseen adds a warning about an activity that no contact has had yet.
func (c *checker) warnUnseen(s EventSource) {
	name := s.Event.Activity
	if s.Event.Kind != ActivityEvent || len(c.schema.Activities) == 0 || slices.Contains(c.schema.Activities, name) {
		return
	}
	w := Warning{Kind: WarnActivity, Message: "no activity " + quote(name) + " has been recorded so far", Suggestion: nearestWord(name, c.schema.Activities)}
	w.Line, w.Column = c.tree.Position(s.Offset)
	c.warnings = append(c.warnings, w)
}
