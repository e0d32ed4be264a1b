// Package ordinary builds a valid call of any operation from its declaration, with the
// required arguments only. Tests that call every operation use it for the operations that
// their tables do not list.
package ordinary

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// Call is a call of an operation by a route or a tool. For a tool, Body has the arguments
// as JSON, and Method and Path are empty.
type Call struct{ Method, Path, Body string }

// Values has values for required arguments, by the argument's name; the things that they
// identify must exist. A key of the form "prefix_ argument" applies only to operations
// whose names begin with the prefix.
type Values map[string]string

// Tool returns a call of the operation as a tool. It fails if a required argument has no
// value.
func Tool(op core.Operation, values Values) (Call, error) {
	arguments, err := Arguments(op, core.Agent, values)
	if err != nil {
		return Call{}, err
	}
	body, err := json.Marshal(arguments)
	return Call{Body: string(body)}, err
}

// Route returns a call of the operation by its REST route. It fails if a required argument
// has no value, or belongs neither in the path nor in an object body.
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
	takesBody := slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, route.Method)
	switch {
	case route.Items != "" || !takesBody && len(arguments) > 0:
		return c, fmt.Errorf("%s: its arguments are not members of a body", op.Info().Name)
	case takesBody:
		body, err := json.Marshal(arguments)
		c.Body = string(body)
		return c, err
	}
	return c, nil
}

// Arguments returns values for the required arguments of an operation on a surface, by
// name. It fails if a required argument has no value.
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

// member has the part of a JSON Schema that Arguments needs, for an input or one of its
// members.
type member struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Properties map[string]member `json:"properties"`
	Required   []string          `json:"required"`
}

// example returns a value for a required argument: the one in values, else the first value
// of an enum, 1 for a number or false for a boolean. It fails for any other type that has
// no value in values.
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

// of returns the value for an argument of an operation, and whether there is one. A value
// for a prefix of the operation's name takes precedence over one for all operations. At
// most one prefix may match; with two, the result is one of them at random.
func (v Values) of(operation, member string) (string, bool) {
	for name, value := range v {
		if prefix, of, ok := strings.Cut(name, " "); ok && of == member && strings.HasPrefix(operation, prefix) {
			return value, true
		}
	}
	value, ok := v[member]
	return value, ok
}
