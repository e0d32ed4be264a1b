// Package ordinary derives the ordinary call of an operation from its declaration: no more
// than the required arguments. Tests that walk the catalogue use it for the operations that
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

// Call is a call of an operation. Method and Path are empty for a tool, whose arguments are
// the Body.
type Call struct{ Method, Path, Body string }

// Values are texts of things that exist, by the name of the member that takes them. The
// name "prefix_ member" is for operations whose names begin with the prefix.
type Values map[string]string

// Tool returns the call of a tool. It fails for a required member without a value.
func Tool(op core.Operation, values Values) (Call, error) {
	arguments, err := Arguments(op, core.Agent, values)
	if err != nil {
		return Call{}, err
	}
	body, err := json.Marshal(arguments)
	return Call{Body: string(body)}, err
}

// Route returns the call of a route. It fails as [Tool] does, and for required arguments
// that are neither in the path nor members of the body.
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

// Arguments returns the required members of an operation's input. It fails for one
// without a value.
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

// member is what Arguments reads of an input schema.
type member struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Properties map[string]member `json:"properties"`
	Required   []string          `json:"required"`
}

// example returns a value for the member: the one in values, the first word of an enum,
// 1 or false. It fails for a text, a list or an object without a value.
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

// of returns the value for a member of an operation. One for operations by their prefix
// comes before one for all. At most one prefix may match an operation: with two, the
// returned value is random.
func (v Values) of(operation, member string) (string, bool) {
	for name, value := range v {
		if prefix, of, ok := strings.Cut(name, " "); ok && of == member && strings.HasPrefix(operation, prefix) {
			return value, true
		}
	}
	value, ok := v[member]
	return value, ok
}
