package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// node is a JSON schema, or a part of one, with the keywords that the schemas of operations
// use.
type node struct {
	Type        any               `json:"type"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Default     json.RawMessage   `json:"default"`
	Format      string            `json:"format"`
	Pattern     string            `json:"pattern"`
	MinLength   int               `json:"minLength"`
	MaxLength   int               `json:"maxLength"`
	MinItems    int               `json:"minItems"`
	MaxItems    int               `json:"maxItems"`
	Minimum     *json.Number      `json:"minimum"`
	Maximum     *json.Number      `json:"maximum"`
	Items       *node             `json:"items"`
	OneOf       []node            `json:"oneOf"`
	AnyOf       []node            `json:"anyOf"`
	Properties  properties        `json:"properties"`
	Required    []string          `json:"required"`
	// Values is the schema of the values of an object with any names.
	Values json.RawMessage `json:"additionalProperties"`
}

// properties are the members of an object in the order of the schema.
type properties []property

// property is a member of an object.
type property struct {
	name string
	node node
}

// UnmarshalJSON reads an object and keeps the order of its members.
func (p *properties) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		one := property{name: fmt.Sprint(name)}
		if err := decoder.Decode(&one.node); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

// alternatives returns the schemas of which a value fits one.
func (n node) alternatives() []node { return slices.Concat(n.OneOf, n.AnyOf) }

// kind describes the type of a value in words.
func (n node) kind() string {
	if alternatives := n.alternatives(); len(alternatives) > 0 {
		var kinds []string
		for _, one := range alternatives {
			if kind := one.kind(); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		return strings.Join(kinds, " or ")
	}
	var kinds []string
	switch t := n.Type.(type) {
	case string:
		kinds = []string{t}
	case []any:
		for _, one := range t {
			kinds = append(kinds, fmt.Sprint(one))
		}
	default:
		return "any"
	}
	for i, kind := range kinds {
		if kind == "array" && n.Items != nil {
			kinds[i] = "array of " + n.Items.kind()
		}
		if kind == "string" && formats[n.Format] != "" {
			kinds[i] = formats[n.Format]
		}
	}
	return strings.Join(kinds, " or ")
}

// formats has the words for the formats of strings.
var formats = map[string]string{
	"date-time": "date-time", "date": "date", "email": "email address", "idn-email": "email address", "uri": "URI", "uuid": "UUID",
}

// limits describes what a value must be, beyond its type.
func (n node) limits() []string {
	var limits []string
	if len(n.Enum) > 0 {
		values := make([]string, 0, len(n.Enum))
		for _, value := range n.Enum {
			values = append(values, code(value))
		}
		limits = append(limits, "One of "+strings.Join(values, ", ")+".")
	}
	if len(n.Const) > 0 {
		limits = append(limits, "Always "+code(n.Const)+".")
	}
	limits = append(limits, span(n.MinLength, n.MaxLength, "characters")...)
	limits = append(limits, span(n.MinItems, n.MaxItems, "items")...)
	switch {
	case n.Minimum != nil && n.Maximum != nil:
		limits = append(limits, fmt.Sprintf("%s to %s.", *n.Minimum, *n.Maximum))
	case n.Minimum != nil:
		limits = append(limits, fmt.Sprintf("At least %s.", *n.Minimum))
	}
	if n.Pattern != "" {
		limits = append(limits, "Matches `"+n.Pattern+"`.")
	}
	if len(n.Default) > 0 {
		limits = append(limits, "Default "+code(n.Default)+".")
	}
	return limits
}

// code returns a JSON value as code, a string without its quotes.
func code(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return "`" + s + "`"
	}
	return "`" + string(value) + "`"
}

// span describes the bounds of a length, with no words if there are none.
func span(least, most int, unit string) []string {
	switch {
	case least > 0 && most > 0:
		return []string{fmt.Sprintf("%d to %d %s.", least, most, unit)}
	case most > 0:
		return []string{fmt.Sprintf("At most %d %s.", most, unit)}
	case least > 0:
		return []string{fmt.Sprintf("At least %d %s.", least, unit)}
	}
	return nil
}
