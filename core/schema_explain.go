package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// explain converts the validator's tree of causes to an error with the code
// validation_failed and a flat list. The list has one entry for each fault, with the
// member's path and a reason in plain words.
func (s *Schema) explain(err error) error {
	v, ok := errors.AsType[*validator.ValidationError](err)
	if !ok {
		return Invalid("", "does not fit the schema")
	}
	var fields []FieldError
	s.collect(v, &fields)
	slices.SortStableFunc(fields, func(a, b FieldError) int { return strings.Compare(a.Field, b.Field) })
	fields = slices.Compact(fields)
	return InvalidFields(fields...)
}

func (s *Schema) collect(v *validator.ValidationError, into *[]FieldError) {
	switch k := v.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range v.Causes {
			s.collect(cause, into)
		}
	case *kind.OneOf, *kind.AnyOf:
		s.collectAlternatives(v, into)
	case *kind.Required:
		for _, name := range k.Missing {
			*into = append(*into, FieldError{fieldPath(v.InstanceLocation, name), "is required"})
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			*into = append(*into, FieldError{fieldPath(v.InstanceLocation, name), s.unknownMember(v.InstanceLocation)})
		}
	default:
		*into = append(*into, FieldError{fieldPath(v.InstanceLocation), reason(v.ErrorKind)})
	}
}

// collectAlternatives explains a value that matches none of several alternatives of a
// schema. If the value has the type of one alternative, it reports the faults against that
// one. Otherwise it lists the accepted types.
func (s *Schema) collectAlternatives(v *validator.ValidationError, into *[]FieldError) {
	var wanted []string
	for _, cause := range v.Causes {
		leaf := cause
		for len(leaf.Causes) == 1 && isWrapper(leaf.ErrorKind) {
			leaf = leaf.Causes[0]
		}
		t, isType := leaf.ErrorKind.(*kind.Type)
		if !isType || len(leaf.InstanceLocation) > len(v.InstanceLocation) {
			s.collect(cause, into)
			return
		}
		wanted = append(wanted, t.Want...)
	}
	if len(wanted) == 0 {
		*into = append(*into, FieldError{fieldPath(v.InstanceLocation), "fits none of the allowed forms"})
		return
	}
	*into = append(*into, FieldError{fieldPath(v.InstanceLocation), "must be " + alternatives(wanted)})
}

func isWrapper(k validator.ErrorKind) bool {
	switch k.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		return true
	}
	return false
}

func (s *Schema) unknownMember(at []string) string {
	known := s.members
	if len(at) > 0 {
		known = s.membersAt(at)
	}
	if len(known) == 0 {
		return "is unknown"
	}
	return "is unknown; known names are " + strings.Join(known, ", ")
}

// membersAt returns the names of the members that an object may have by the schema. at is
// the object's path in the value. membersAt returns nil if the schema has no members for
// this path.
func (s *Schema) membersAt(at []string) []string {
	var node schemaNode
	if json.Unmarshal(s.text, &node) != nil {
		return nil
	}
	for _, step := range at {
		next := node.childOf(step)
		if next == nil {
			return nil
		}
		node = *next
	}
	return slices.Sorted(maps.Keys(node.object().Properties))
}

// schemaNode has the parts of a JSON Schema that say which members an object has.
type schemaNode struct {
	Properties map[string]schemaNode `json:"properties"`
	Items      *schemaNode           `json:"items"`
	OneOf      []schemaNode          `json:"oneOf"`
}

// UnmarshalJSON decodes a schema. It also accepts true, the schema that allows any value.
func (n *schemaNode) UnmarshalJSON(text []byte) error {
	type plain schemaNode
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	return json.Unmarshal(text, (*plain)(n))
}

// object returns the first schema in OneOf that has Properties, or else the schema itself.
func (n schemaNode) object() schemaNode {
	for _, form := range n.OneOf {
		if form.Properties != nil {
			return form
		}
	}
	return n
}

func (n schemaNode) childOf(step string) *schemaNode {
	if member, there := n.object().Properties[step]; there {
		return &member
	}
	for _, form := range append([]schemaNode{n}, n.OneOf...) {
		if form.Items != nil {
			return form.Items
		}
	}
	return nil
}

func fieldPath(location []string, more ...string) string {
	parts := make([]string, 0, len(location)+len(more))
	for _, p := range append(slices.Clone(location), more...) {
		parts = append(parts, Quotable(p, 80))
	}
	return strings.Join(parts, ".")
}

func alternatives(types []string) string {
	slices.Sort(types)
	return strings.Join(slices.Compact(types), " or ")
}

// reason returns in plain words what a keyword of the schema requires. For a keyword
// without a text of its own, it returns a text with the path of the keyword.
func reason(k validator.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + alternatives(k.Want)
	case *kind.Enum:
		return "must be one of " + listValues(k.Want)
	case *kind.Format:
		return "must be a valid " + formatWords(k.Want)
	case *kind.Pattern:
		return "must match " + k.Want
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d members", k.Want)
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.UniqueItems:
		return "must not repeat an item"
	default:
		return "does not fit the schema at " + strings.Join(k.KeywordPath(), "/")
	}
}

// formatWords returns the name of a format for an error message, with an example if it
// helps.
func formatWords(format string) string {
	switch format {
	case "date-time":
		return "date-time, such as 2026-03-02T08:00:00Z"
	case "email", "idn-email":
		return "email address"
	}
	return format
}

func listValues(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}
