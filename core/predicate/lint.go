package predicate

import (
	"cmp"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// Warning describes a part of a valid predicate that probably does not mean what its author
// intended.
type Warning struct {
	Line, Column int
	Kind         WarningKind
	Message      string
	// Suggestion is what the author probably intended, "" if that is unknown.
	Suggestion string
}

// WarningKind is the kind of a [Warning].
type WarningKind string

// The kinds of warnings.
const (
	// WarnAbsence warns that contacts without the tested value or event do not match,
	// although the wording of the test suggests that they do.
	WarnAbsence WarningKind = "absence"
	// WarnEnumValue warns that an enum is compared with a text that is not one of its
	// values.
	WarnEnumValue WarningKind = "enum_value"
	// WarnActivity warns that no activity has been recorded so far with the name that the
	// predicate tests.
	WarnActivity WarningKind = "unseen_activity"
)

// Lint returns the warnings about the predicate, sorted by their position in the source. A
// predicate with warnings is valid.
func (c *Checked) Lint() []Warning {
	l := linter{tree: c.tree, warnings: slices.Clone(c.warnings)}
	l.node(c.Root, nil, false)
	slices.SortStableFunc(l.warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.warnings
}

// linter finds tests that are Unknown for contacts without the tested value, although their
// wording suggests True.
type linter struct {
	tree     *Tree
	warnings []Warning
}

// subject is something that a contact may lack: an attribute, by name, or the events that a
// test such as exists(...) selects, as canonical text.
type subject struct{ attribute, events string }

// node adds the warnings about n and the nodes below it. negated is true inside of a "not".
// guards has the attributes and events about which n needs no warning, because another term
// tests whether the contact has them.
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

// terms adds the warnings about the terms of an "and" (present is true) or an "or" (present
// is false). In an "and", the term "has attr.x" excludes contacts without x. In an "or",
// the term "attr.x is unknown" includes these contacts. So the other terms need no warning
// about x.
func (l *linter) terms(terms []Node, guards []subject, present, negated bool) {
	guards = slices.Clip(guards)
	for _, term := range terms {
		guards = append(guards, guardedSubjects(term, present)...)
	}
	for _, term := range terms {
		l.node(term, guards, negated)
	}
}

// guardedSubjects returns the attributes and events that a contact certainly has if n is
// True. If present is false, it returns those that a contact certainly lacks if n is True.
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
		ofNone := n.Kind == Count && Holds(n.Op, 0, n.Number)
		if ofNone == present {
			return nil
		}
		guards := []subject{{events: sourceText(n.Source)}}
		if present { // every event that n.Source selects is of the kind n.Source.Event
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

// event warns about a test of the time of the first or last event, because the test is
// Unknown for contacts without events. It warns about a sum, average, minimum or maximum
// only inside of a "not" or with the operator "!=". If guards has the test's events, it
// does not warn.
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

// enumValue adds a warning if f is an enum attribute and v is not one of its values.
func (c *checker) enumValue(f Field, v Value) {
	registered := c.schema.Attributes[f.Name]
	if f.Source != Attribute || registered.Type != Enum || slices.Contains(registered.EnumValues, v.Text) {
		return
	}
	w := Warning{Kind: WarnEnumValue, Message: f.title() + " is never " + quote(v.Text), Suggestion: core.NearestWord(v.Text, registered.EnumValues)}
	w.Line, w.Column = c.tree.Position(f.Offset)
	c.warnings = append(c.warnings, w)
}

// warnUnseen adds a warning if the source is an activity of a name that has not been
// recorded so far.
func (c *checker) warnUnseen(s EventSource) {
	name := s.Event.Activity
	if s.Event.Kind != ActivityEvent || len(c.schema.Activities) == 0 || slices.Contains(c.schema.Activities, name) {
		return
	}
	w := Warning{Kind: WarnActivity, Message: "no activity " + quote(name) + " has been recorded so far", Suggestion: core.NearestWord(name, c.schema.Activities)}
	w.Line, w.Column = c.tree.Position(s.Offset)
	c.warnings = append(c.warnings, w)
}
