package predicate

import (
	"cmp"
	"reflect"
	"slices"
)

// Checked is a predicate that Check accepted: every name exists in the schema, and every
// comparison has operands of one type. It is immutable and safe for concurrent use.
type Checked struct {
	// Root is the top node of the predicate, with all names resolved.
	Root     Node
	tree     *Tree
	warnings []Warning
}

// Tree returns the syntax tree from which Check made c.
func (c *Checked) Tree() *Tree { return c.tree }

// String returns the text of the predicate in its canonical spelling.
func (c *Checked) String() string { return c.tree.String() }

// Equal reports whether c and other have the same result for every contact. Both must have
// been compiled from the same source text, possibly with different schemas. They are equal
// if each name was resolved to the same id, type or default.
func (c *Checked) Equal(other *Checked) bool { return reflect.DeepEqual(c.Root, other.Root) }

// Check uses the schema to resolve the names in a tree, and checks the types. It fails with
// [Errors], sorted by their position in the source. It does not change the tree.
func Check(tree *Tree, schema Schema) (*Checked, error) {
	c := checker{tree: tree, schema: schema}
	root := c.node(tree.Root)
	if len(c.faults) > 0 {
		slices.SortStableFunc(c.faults, func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, c.faults[:min(len(c.faults), MaxFaults)]
	}
	return &Checked{Root: root, tree: tree, warnings: c.warnings}, nil
}

// Compile calls Parse and then Check. It fails with [*Error] if the syntax is invalid, and
// with [Errors] if names or types are.
func Compile(source string, schema Schema) (*Checked, error) {
	tree, err := Parse(source)
	if err != nil {
		return nil, err
	}
	return Check(tree, schema)
}

// checker copies the nodes of a predicate's tree, with every name resolved. After a fault
// it continues with the other nodes, so that one check finds all faults.
type checker struct {
	tree     *Tree
	schema   Schema
	faults   Errors
	warnings []Warning
	// event is set while the checker is inside an event test, such as count(open): it is the
	// kind of event that the test selects, here open. Outside of event tests it is nil.
	event *Event
}

// fail records a fault at the given offset of the source.
func (c *checker) fail(at Offset, fault Error) {
	fault.Line, fault.Column = c.tree.Position(at)
	c.faults = append(c.faults, &fault)
}

func (c *checker) node(n Node) Node {
	switch n := n.(type) {
	case *And:
		return &And{Offset: n.Offset, Terms: c.nodes(n.Terms)}
	case *Or:
		return &Or{Offset: n.Offset, Terms: c.nodes(n.Terms)}
	case *Not:
		return &Not{Offset: n.Offset, Term: c.node(n.Term)}
	case *Compare:
		return c.compare(*n)
	case *In:
		return c.checkIn(*n)
	case *Match:
		return c.match(*n)
	case *Known:
		resolved := *n
		resolved.Field = c.field(n.Field)
		return &resolved
	case *Age:
		return c.age(*n)
	case *EventTest:
		return c.eventTest(*n)
	case *Consent:
		return c.consent(*n)
	case *Membership:
		return c.membership(*n)
	}
	return n
}

func (c *checker) nodes(terms []Node) []Node {
	resolved := make([]Node, 0, len(terms))
	for _, term := range terms {
		resolved = append(resolved, c.node(term))
	}
	return resolved
}

func (c *checker) compare(n Compare) Node {
	n.Field = c.field(n.Field)
	n.Value = c.value(n.Field, n.Value, n.ValueAt)
	ordered := n.Field.Type == Number || n.Field.Type == Datetime
	if n.Op != Equal && n.Op != NotEqual && !ordered && n.Field.Type != Unresolved {
		c.fail(n.Offset, Error{Message: n.Field.title() + " is a " + n.Field.Type.String() + ", which has no order", Expected: "= or !="})
	}
	return &n
}

func (c *checker) checkIn(n In) Node {
	n.Field = c.field(n.Field)
	values := make([]Value, 0, len(n.Values))
	for i, v := range n.Values {
		at := n.Offset
		if i < len(n.ValuesAt) { // i is beyond ValuesAt only in a tree that was not parsed from text
			at = n.ValuesAt[i]
		}
		values = append(values, c.value(n.Field, v, at))
	}
	n.Values = values
	return &n
}

func (c *checker) match(n Match) Node {
	n.Field = c.field(n.Field)
	if n.Field.Type != String && n.Field.Type != Unresolved {
		c.fail(n.Offset, Error{Message: n.Field.title() + " is a " + n.Field.Type.String() + ", and " + n.How.String() + " works only on strings"})
	}
	if n.Text == "" {
		c.fail(n.Offset, Error{Message: n.How.String() + ` "" matches every string`, Suggestion: "has " + n.Field.title()})
	}
	return &n
}

func (c *checker) age(n Age) Node {
	n.Field = c.field(n.Field)
	if n.Field.Type != Datetime && n.Field.Type != Unresolved {
		c.fail(n.Field.Offset, Error{Message: n.Field.title() + " is a " + n.Field.Type.String() + ", and only a datetime has an age"})
	}
	return &n
}

// value checks the literal v, which is compared with field f, and returns it. For a
// Datetime field it parses a string as a date and time. If the types differ, it records a
// fault; the parameter at is the literal's offset.
func (c *checker) value(f Field, v Value, at Offset) Value {
	if f.Type == v.Type || f.Type == Unresolved {
		c.enumValue(f, v)
		return v
	}
	if f.Type == Datetime && v.Type == String {
		micros, ok := parseTime(v.Text)
		if !ok {
			c.fail(at, Error{Message: notATime(v.Text)})
		}
		return Value{Type: Datetime, Moment: Moment{Micros: micros}}
	}
	c.fail(at, Error{
		Message:    f.title() + " is a " + f.Type.String() + " and is compared with the " + v.Type.String() + " " + valueWords(v),
		Expected:   literals[f.Type],
		Suggestion: rewriteLiteral(v, f.Type),
	})
	return v
}

// rewriteLiteral returns the source text of v as a literal of type t, such as true for
// "true". It returns "" if that is not possible.
func rewriteLiteral(v Value, t Type) string {
	switch {
	case t == String && (v.Type == Number || v.Type == Bool):
		return `"` + valueWords(v) + `"`
	case t == Bool && v.Type == String && (v.Text == "true" || v.Text == "false"):
		return v.Text
	case t == Number && v.Type == String:
		l := lexer{source: v.Text}
		if l.next().kind == tokenNumber && l.at == len(v.Text) {
			return v.Text
		}
	}
	return ""
}

// literals describes, for error messages, how a literal of each type is written.
var literals = map[Type]string{
	String:   `a string in double quotes`,
	Number:   `a number without quotes`,
	Bool:     `true or false without quotes`,
	Datetime: `a date such as 2026-01-31, or a date and time in quotes`,
}

// title returns the field's name as it is written in predicates, such as attr.plan.
func (f Field) title() string {
	var p printer
	p.field(f)
	return p.String()
}
