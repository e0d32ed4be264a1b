package whole

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

// node has the members of a JSON input schema that the tests use.
type node struct {
	Type       any             `json:"type"`
	Text       string          `json:"description"`
	Enum       []any           `json:"enum"`
	Properties map[string]node `json:"properties"`
	Required   []string        `json:"required"`
	Items      *node           `json:"items"`
	Format     string          `json:"format"`
	OneOf      []node          `json:"oneOf"`
	AnyOf      []node          `json:"anyOf"`
	Additional json.RawMessage `json:"additionalProperties"`
}

func nodeOf(t *testing.T, schema *core.Schema) node {
	t.Helper()
	var n node
	if err := json.Unmarshal(schema.Text(), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// is reports whether the schema allows values of the JSON type in kind. The schema has no
// type for the members of a row of a bulk write, so that an invalid row fails alone. The
// description of such a member begins with its form, such as "Text".
func (n node) is(kind string) bool {
	if kind == "string" && n.Type == nil && strings.HasPrefix(n.Text, "Text") {
		return true
	}
	several, _ := n.Type.([]any)
	return n.Type == kind || slices.Contains(several, any(kind))
}

// texts returns the paths of all members of the schema that accept any text. "lists.add[]"
// is an item of add in lists, and "attributes{}" is the name of any member of attributes.
func (n node) texts(at string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		found = append(found, n.Properties[name].texts(strings.TrimPrefix(at+"."+name, "."))...)
	}
	if n.Items != nil {
		found = append(found, n.Items.texts(at+"[]")...)
	}
	for _, alternative := range slices.Concat(n.OneOf, n.AnyOf) {
		found = append(found, alternative.texts(at)...)
	}
	if n.is("object") && string(n.Additional) != "false" {
		found = append(found, at+"{}")
	}
	if n.is("string") && n.Enum == nil {
		found = append(found, at)
	}
	return found
}

// with returns arguments that fit the schema n, with all required members. They have text
// at place, a path that the method texts returns. For each other required text member, the
// function beside returns the value, given the member's path.
func (n node) with(place, text string, beside func(place string) string) any {
	return n.build("", place, text, beside)
}

func (n node) build(at, place, text string, beside func(string) string) any {
	rest := strings.TrimPrefix(place, at)
	switch {
	case rest == "" || !strings.HasPrefix(place, at):
		return n.sample(at, text, beside)
	case rest == "{}":
		return map[string]any{text: n.value()}
	}
	for _, alternative := range slices.Concat(n.OneOf, n.AnyOf) {
		if slices.Contains(alternative.texts(at), place) {
			return alternative.build(at, place, text, beside)
		}
	}
	if strings.HasPrefix(rest, "[]") {
		return []any{n.Items.build(at+"[]", place, text, beside)}
	}
	object := map[string]any{}
	for name, member := range n.Properties {
		below := strings.TrimPrefix(at+"."+name, ".")
		if slices.Contains(member.texts(below), place) {
			object[name] = member.build(below, place, text, beside)
		} else if slices.Contains(n.Required, name) {
			object[name] = member.sample(below, beside(below), beside)
		}
	}
	return object
}

// value returns a valid value for a member of an object that accepts any members.
func (n node) value() any {
	var of node
	if json.Unmarshal(n.Additional, &of) != nil {
		return "x"
	}
	return of.sample("", "x", nil)
}

// sample returns a valid value of the schema. If the value is a string, it is text. In an
// object, the function beside gives the text of each member by its path. at is the path of
// the value.
func (n node) sample(at, text string, beside func(string) string) any {
	switch {
	case n.Enum != nil:
		return n.Enum[0]
	case n.is("string"):
		return text
	case n.is("integer"), n.is("number"):
		return 1
	case n.is("boolean"):
		return false
	case n.is("array"):
		return []any{}
	case len(n.OneOf) > 0:
		return n.OneOf[0].sample(at, text, beside)
	}
	object := map[string]any{}
	for _, name := range n.Required {
		below := strings.TrimPrefix(at+"."+name, ".")
		object[name] = n.Properties[name].sample(below, beside(below), beside)
	}
	return object
}
