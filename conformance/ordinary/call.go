// Package ordinary builds a valid call of any operation from the operation's declaration,
// with only the required arguments. Tests that call every operation use it for those
// operations that need no special arguments.
package ordinary

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// Call is a call of an operation by its REST route or its MCP tool. For a tool, Method and
// Path are empty and Body has the arguments as JSON.
type Call struct{ Method, Path, Body string }

// Values maps the name of a required argument to the value to use, such as the id of an
// existing contact. With a key such as "lists_ id" the value applies only to operations
// whose names begin with "lists_".
type Values map[string]string

// Tool returns a call of the operation's MCP tool, with the values that [Arguments]
// returns. It fails if Arguments fails.
func Tool(op core.Operation, values Values) (Call, error) {
	arguments, err := Arguments(op, core.Agent, values)
	if err != nil {
		return Call{}, err
	}
	body, err := json.Marshal(arguments)
	return Call{Body: string(body)}, err
}

// Route returns a call of the operation's REST route, with the values that [Arguments]
// returns. It fails if Arguments fails, or if an argument fits neither into the path nor
// into a JSON object as the body.
func Route(op core.Operation, route rest.Route, values Values) (Call, error) {
	c := Call{Method: route.Method, Path: route.Path}
	arguments, err := Arguments(op, core.REST, values)
	if err != nil {
		return c, err
	}
	for name, value := range arguments {
		if in := "{" + name + "}"; strings.Contains(c.Path, in) {
			c.Path = strings.ReplaceAll(c.Path, in, strings.ReplaceAll(url.PathEscape(fmt.Sprint(value)), "@", "%40"))
			delete(arguments, name)
		}
	}
	switch {
	case route.Items != "" || !route.TakesBody() && len(arguments) > 0:
		return c, fmt.Errorf("%s: its arguments are not members of a body", op.Info().Name)
	case route.TakesBody():
		body, err := json.Marshal(arguments)
		c.Body = string(body)
		return c, err
	}
	return c, nil
}

// Arguments returns the required arguments of an operation on the given surface, by name.
// It fails if it can derive no value for one of them from the input schema and values.
func Arguments(op core.Operation, surface core.Surface, values Values) (map[string]any, error) {
	var input member
	if err := json.Unmarshal(op.Input(surface).Text(), &input); err != nil {
		return nil, fmt.Errorf("read the input schema: %w", err)
	}
	arguments := map[string]any{}
	for _, name := range input.Required {
		value, err := input.Properties[name].example(op.Info().Name, name, values)
		if err != nil {
			return nil, err
		}
		arguments[name] = value
	}
	return arguments, nil
}

// member has those parts of a JSON Schema from which Arguments derives values. It describes
// the input of an operation, or one member of it.
type member struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Properties map[string]member `json:"properties"`
	Required   []string          `json:"required"`
}

// example returns a value for a required argument. If values has none, it returns the first
// value of an enum, 1 for a number or false for a boolean. For any other type without a
// value it fails.
func (m member) example(operation, name string, values Values) (any, error) {
	if value, ok := values.of(operation, name); ok {
		return value, nil
	}
	switch {
	case len(m.Enum) > 0:
		return m.Enum[0], nil
	case m.Type == "integer" || m.Type == "number":
		return 1, nil
	case m.Type == "boolean":
		return false, nil
	}
	return nil, fmt.Errorf("%s: no value is known for the required member %q", operation, name)
}

// of returns the value for an argument of an operation, and whether there is one. A key of
// v is the argument's name alone, or a prefix of operation names, a space and the
// argument's name. A key with a matching prefix takes precedence. If two prefixes match,
// the choice is random.
func (v Values) of(operation, member string) (string, bool) {
	for name, value := range v {
		if prefix, of, ok := strings.Cut(name, " "); ok && of == member && strings.HasPrefix(operation, prefix) {
			return value, true
		}
	}
	value, ok := v[member]
	return value, ok
}
