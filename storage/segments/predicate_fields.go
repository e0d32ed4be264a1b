package segments

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// attributeName matches valid attribute names, which need no escaping in SQL.
var attributeName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// slotKinds has, for each type of value, the columns of contact_slots: the first letter of
// their names and how many there are.
var slotKinds = map[predicate.Type]struct {
	letter string
	slots  int
}{
	predicate.String: {"s", 16}, predicate.Number: {"n", 16}, predicate.Bool: {"n", 16}, predicate.Datetime: {"t", 8},
}

// field returns the SQL of a field. The value of this SQL is NULL if the field is missing
// or its value has another type.
func (c *condition) field(f predicate.Field) string {
	switch f.Source {
	case predicate.Email:
		c.needsContact = true
		return `c.email`
	case predicate.Attribute:
		return c.attribute(f)
	case predicate.Property:
		return c.property(f)
	}
	return c.fail("field of source %d", f.Source)
}

func (c *condition) attribute(f predicate.Field) string {
	if slot := c.slots[f.Name]; slot != "" {
		kind := slotKinds[f.Type]
		for i := 1; i <= kind.slots; i++ {
			if slot == kind.letter+strconv.Itoa(i) {
				return c.steer() + `s.` + slot
			}
		}
		return c.fail("slot %q of a %v", slot, f.Type)
	}
	if !attributeName.MatchString(f.Name) {
		return c.fail("attribute %q", f.Name)
	}
	c.needsContact = true
	return c.ofJSON(`c.attributes`, `'`+f.Name+`'`, f.Type)
}

// fieldBeside returns the SQL expression of a field, for comparing the field with values.
// For an attribute with a slot, the expression is the slot column, which has only the first
// part of a long text. If one of the values is longer than slots.TextBytes, the expression
// is the complete text instead.
func (c *condition) fieldBeside(f predicate.Field, values ...predicate.Value) string {
	if slices.ContainsFunc(values, func(v predicate.Value) bool { return len(v.Text) > slots.TextBytes }) {
		return c.wholeField(f)
	}
	return c.field(f)
}

// wholeField returns the SQL expression for the complete text of a field. A column of
// contact_slots has only the beginning of a long text.
func (c *condition) wholeField(f predicate.Field) string {
	text := c.field(f)
	if f.Source != predicate.Attribute || f.Type != predicate.String || c.slots[f.Name] == "" {
		return text
	}
	return `coalesce(s.` + slots.LongTexts + `/*pg ::json*/ ->> '` + c.slots[f.Name] + `', ` + text + `)`
}

// steer returns a prefix for a column of contact_slots that keeps SQLite from using the
// index of that column. If a predicate requires events, SQLite is much faster when it
// starts from the events, but without statistics it prefers the column's index. The prefix
// is a unary plus. PostgreSQL does not need the prefix and reads it as a comment.
func (c *condition) steer() string {
	if c.byEvents {
		return "/*pg --*/+\n"
	}
	return ""
}

// ofJSON returns the SQL that reads a value of type t from a JSON text. The SQL uses
// functions that both SQLite and PostgreSQL have.
func (c *condition) ofJSON(document, key string, t predicate.Type) string {
	switch t {
	case predicate.String, predicate.Number, predicate.Bool:
		return `predicate_` + t.String() + `(` + document + `/*pg ::json*/ -> ` + key + `)`
	case predicate.Datetime:
		return `predicate_moment(` + document + `/*pg ::json*/ -> ` + key + `)`
	}
	return c.fail("value of type %v", t)
}

// property returns the SQL of a property of the event e. If the property is "subject", the
// SQL reads the subject of m, the message of the event.
func (c *condition) property(f predicate.Field) string {
	if c.event == nil {
		return c.fail("property %q of no event", f.Name)
	}
	if c.event.Kind == predicate.ActivityEvent {
		return c.ofJSON(`e.properties`, `CAST(`+c.parameter(c.dialect.JSONKey(f.Name))+` AS text)`, f.Type)
	}
	switch f.Name {
	case "subject":
		return `NULLIF(m.subject, '')`
	case "template":
		return `NULLIF(e.template, '')`
	case "sender_domain":
		return `NULLIF(e.identity, '')`
	case "url":
		return c.ofJSON(`e.metadata`, `'click_url'`, f.Type)
	case "type":
		return `e.bounce_type`
	case "sub_type":
		return `e.bounce_sub_type`
	case "processing_ms":
		return c.ofJSON(`e.metadata`, `'processing_time_ms'`, f.Type)
	}
	return c.fail("property %q of %v", f.Name, c.event.Kind)
}
