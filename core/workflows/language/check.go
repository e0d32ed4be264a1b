package language

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// Schema has the names of an organization that workflows may use.
type Schema struct {
	predicate.Schema
	// Templates has the names of the templates, with false for one that has no content to send.
	// If it is nil, names of templates are not checked.
	Templates map[string]bool
}

// Checked is a workflow that Check accepted. It is immutable and safe for concurrent use.
type Checked struct {
	tree       *Tree
	conditions map[*predicate.Tree]*predicate.Checked
	warnings   []predicate.Warning
	topics     map[string]bool
	lists      map[string]string
}

// Tree returns the syntax tree from which Check made c.
func (c *Checked) Tree() *Tree { return c.tree }

// Condition returns the checked form of a predicate or assignment of the tree.
func (c *Checked) Condition(of *predicate.Tree) *predicate.Checked { return c.conditions[of] }

// TopicDefault reports whether contacts without a choice are in a topic of a send.
func (c *Checked) TopicDefault(name string) bool { return c.topics[name] }

// ListID returns the id of the list of a step.
func (c *Checked) ListID(key string) string { return c.lists[key] }

// Warnings returns what is valid but probably not meant, sorted by position.
func (c *Checked) Warnings() []predicate.Warning { return c.warnings }

// The kinds of warnings beside those of predicates.
const (
	// WarnUnreachable warns about steps that no contact reaches.
	WarnUnreachable predicate.WarningKind = "unreachable"
	// WarnNoSend warns that a workflow sends nothing.
	WarnNoSend predicate.WarningKind = "no_send"
)

// Check uses the schema to resolve the names in a tree, and checks the types. It fails with
// [predicate.Errors], sorted by position, at most [predicate.MaxFaults]. It does not change
// the tree.
func Check(tree *Tree, schema Schema) (*Checked, error) {
	c := &checker{schema: schema, checked: &Checked{tree: tree, conditions: map[*predicate.Tree]*predicate.Checked{}, topics: schema.Topics, lists: schema.Lists}}
	return c.check(tree)
}

// CheckWithoutNames reports the faults and warnings of Check that do not depend on a schema,
// for editors and commands that do not know the names of the organization.
func CheckWithoutNames(tree *Tree) ([]predicate.Warning, error) {
	c := &checker{nameless: true, checked: &Checked{tree: tree}}
	checked, err := c.check(tree)
	if err != nil {
		return nil, err
	}
	return checked.warnings, nil
}

func (c *checker) check(tree *Tree) (*Checked, error) {
	c.settings(tree.Settings)
	for located := range tree.All() {
		c.step(located.Step)
	}
	c.unreachable(tree.Body.Steps)
	c.sendsSomething(tree)
	if len(c.faults) > 0 {
		slices.SortStableFunc(c.faults, func(a, b *predicate.Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, c.faults[:min(len(c.faults), predicate.MaxFaults)]
	}
	slices.SortStableFunc(c.checked.warnings, func(a, b predicate.Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.checked, nil
}

// Compile calls Parse and then Check.
func Compile(source string, schema Schema) (*Checked, error) {
	tree, err := Parse(source)
	if err != nil {
		return nil, err
	}
	return Check(tree, schema)
}

type checker struct {
	schema  Schema
	checked *Checked
	faults  predicate.Errors
	// nameless is true if there is no schema, so that no name is checked.
	nameless bool
}

func (c *checker) fail(at Offset, fault predicate.Error) {
	c.faults = append(c.faults, predicate.NewError(c.checked.tree.source, int(at), fault))
}

func (c *checker) warn(at Offset, w predicate.Warning) {
	position := predicate.NewError(c.checked.tree.source, int(at), predicate.Error{})
	w.Line, w.Column = position.Line, position.Column
	c.checked.warnings = append(c.checked.warnings, w)
}

func (c *checker) settings(s Settings) {
	switch s.Trigger.Kind {
	case OnSegment:
		named(c, s.Trigger.NameAt, "segment", s.Trigger.Segment, c.schema.Segments, predicate.SegmentSet)
	case OnDate:
		c.datetime(s.Trigger.NameAt, s.Trigger.Attribute)
		if s.Enroll != nil && s.Enroll.Existing && s.Enroll.Since == (Duration{}) {
			c.fail(s.Enroll.Offset, predicate.Error{
				Message:  "enroll existing lets contacts enter for all dates in the past",
				Expected: "a bound, such as enroll existing since 7 days",
			})
		}
	}
	c.condition(s.Where)
	for _, exit := range s.Exits {
		c.condition(exit.When)
	}
}

func (c *checker) step(step Step) {
	switch s := step.(type) {
	case *Send:
		c.send(s)
	case *WaitUntil:
		if s.Attribute != "" {
			c.datetime(s.AttributeAt, s.Attribute)
		}
	case *WaitFor:
		c.condition(s.Until)
	case *If:
		for _, arm := range s.Arms {
			c.condition(arm.When)
		}
	case *Repeat:
		c.condition(s.Until)
	case *SetAttribute:
		c.assignment(s)
	case *AddToList:
		named(c, s.KeyAt, "list", s.Key, c.schema.Lists, predicate.ListSet)
	}
}

// condition checks a predicate; nil is none.
func (c *checker) condition(tree *predicate.Tree) {
	if tree == nil || c.nameless {
		return
	}
	checked, err := predicate.Check(tree, c.schema.Schema)
	if faults, invalid := errors.AsType[predicate.Errors](err); invalid {
		c.faults = append(c.faults, faults...)
		return
	}
	c.checked.conditions[tree] = checked
	c.checked.warnings = append(c.checked.warnings, checked.Lint()...)
}

// assignment checks the attribute and the value of a set step.
func (c *checker) assignment(s *SetAttribute) {
	assigned := s.Assignment.Root.(*predicate.Compare)
	if assigned.Field.Source == predicate.Email {
		c.fail(assigned.Offset, predicate.Error{Message: "attr.email cannot be set: it is the address of the contact"})
		return
	}
	if c.nameless {
		return
	}
	before := len(c.checked.warnings)
	c.condition(s.Assignment)
	c.checked.warnings = c.checked.warnings[:before] // they are about comparisons
	registered := c.schema.Attributes[assigned.Field.Name]
	if registered.Type == predicate.Enum && assigned.Value.Type == predicate.String && !slices.Contains(registered.EnumValues, assigned.Value.Text) {
		c.fail(assigned.ValueAt, predicate.Error{
			Message:    core.Quote(assigned.Value.Text) + " is not a value of attr." + assigned.Field.Name,
			Expected:   core.QuotedList(registered.EnumValues),
			Suggestion: core.NearestWord(assigned.Value.Text, registered.EnumValues),
		})
	}
}

func (c *checker) send(s *Send) {
	switch sendable, exists := c.schema.Templates[s.Template]; {
	case c.schema.Templates == nil || sendable:
	case exists:
		c.fail(s.TemplateAt, predicate.Error{Message: "the template " + core.Quote(s.Template) + " cannot be sent, because its files in the repository have never been valid"})
	default:
		names := slices.Sorted(maps.Keys(c.schema.Templates))
		names = slices.DeleteFunc(names, func(name string) bool { return !c.schema.Templates[name] })
		c.unknown(s.TemplateAt, "template", s.Template, names)
	}
	if s.Topic != "" {
		named(c, s.TopicAt, "topic", s.Topic, c.schema.Topics, predicate.TopicSet)
	}
}

// datetime checks that an attribute is registered and a datetime.
func (c *checker) datetime(at Offset, name string) {
	registered, known := c.schema.Attributes[name]
	switch {
	case c.nameless:
	case !known:
		c.unknown(at, "attribute", name, slices.Sorted(maps.Keys(c.schema.Attributes)))
	case registered.Type != predicate.Datetime:
		c.fail(at, predicate.Error{Message: "attr." + name + " is a " + registered.Type.String(), Expected: "an attribute of the type datetime"})
	}
}

// named checks that a topic, list or segment exists.
func named[T any](c *checker, at Offset, what, name string, known map[string]T, kind predicate.SetKind) {
	if _, exists := known[name]; exists || c.nameless {
		return
	}
	if c.schema.Archived[predicate.Archived{Kind: kind, Key: name}] {
		c.fail(at, predicate.Error{Message: "the " + what + " " + core.Quote(name) + " is archived", Known: names(known)})
		return
	}
	c.unknown(at, what, name, names(known))
}

func names[T any](known map[string]T) []string {
	list := slices.Sorted(maps.Keys(known))
	if list == nil {
		list = []string{}
	}
	return list
}

// unknown records the fault that a name does not exist.
func (c *checker) unknown(at Offset, what, name string, known []string) {
	fault := predicate.Error{Message: "there is no " + what + " " + core.Quote(name), Suggestion: core.NearestWord(name, known)}
	if fault.Suggestion == "" {
		fault.Known = append([]string{}, known...)
	}
	c.fail(at, fault)
}

// unreachable warns about the first step of a block that comes after one at which all
// contacts leave.
func (c *checker) unreachable(steps []Step) {
	for i, step := range steps {
		if i > 0 && allLeave(steps[i-1]) {
			reason := "exit is before it"
			if _, direct := steps[i-1].(*Leave); !direct {
				reason = "every arm before it ends with exit"
			}
			c.warn(step.Pos(), predicate.Warning{Kind: WarnUnreachable, Message: "no contact reaches this step, because " + reason})
		}
		for _, arm := range Arms(step) {
			c.unreachable(arm.Block.Steps)
		}
	}
}

// allLeave reports whether every contact who comes to a step leaves at it or in its arms.
func allLeave(step Step) bool {
	switch s := step.(type) {
	case *Leave:
		return true
	case *If:
		if s.Else == nil {
			return false
		}
	case *Split:
	default:
		return false
	}
	for _, arm := range Arms(step) {
		if !slices.ContainsFunc(arm.Block.Steps, allLeave) {
			return false
		}
	}
	return true
}

// sendsSomething warns if the workflow changes nothing that a contact or a person would see.
func (c *checker) sendsSomething(tree *Tree) {
	for located := range tree.All() {
		switch located.Step.(type) {
		case *Send, *SetAttribute, *AddToList:
			return
		}
	}
	c.warn(tree.Body.Steps[0].Pos(), predicate.Warning{Kind: WarnNoSend, Message: "the workflow sends no message and changes no contact"})
}
