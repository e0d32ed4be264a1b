package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/tools"
)

// calls are all operations on both surfaces: those of [listed], and for every other
// operation of the catalogue a derived call. underived are the calls that cannot be
// derived, with the reason.
var calls, underived = allCalls()

// seeded has what a round has by the name of a member. A member of some operations is
// listed as "prefix_ member", by the beginning of their names.
var seeded = map[string]string{
	"email":      "read-ROUND@example.com",
	"contact":    "read-ROUND@example.com",
	"message_id": messageID,
	"job_id":     bulkID,
	"identity":   "example.com",
	"domain":     "click.example.com",
	"slug":       "welcome",

	"channels_ name":          "marketing",
	"recipients_ email":       "reader@example.com",
	"contacts_ id":            "read-ROUND@example.com",
	"messages_ id":            messageID,
	"lists_ id":               "read-ROUND",
	"attributes_ id":          "read-ROUND",
	"segments_ id":            "good-customers",
	"activity_properties_ id": readProperty,

	"activity_properties_ activity_name": "faults",
	"activity_properties_ property":      "read",
	"attributes_ name":                   "read",
}

// seed returns what a round has for a member of an operation.
func seed(operation, member string) (string, bool) {
	for name, value := range seeded {
		if prefix, of, ok := strings.Cut(name, " "); ok && of == member && strings.HasPrefix(operation, prefix) {
			return value, true
		}
	}
	value, ok := seeded[member]
	return value, ok
}

// allCalls returns the listed calls and the derived ones, and why some are missing.
func allCalls() ([]call, []string) {
	all, missing := slices.Clone(listed), []string{}
	add := func(op core.Operation, surface core.Surface, route rest.Route) {
		name := op.Info().Name
		if slices.ContainsFunc(listed, func(c call) bool { return c.operation == name && c.method == route.Method }) {
			return
		}
		c, err := derive(op, surface, route)
		if err != nil {
			missing = append(missing, fmt.Sprintf(`add the line {%q, %q, %q, arguments, untouched} to listed in calls_test.go: %v`, name, route.Method, route.Path, err))
			return
		}
		all = append(all, c)
	}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		for _, route := range rest.Routes() {
			if route.Operation == op.Info().Name {
				add(op, core.REST, route)
			}
		}
		if slices.Contains(tools.Table(), op.Info().Name) {
			add(op, core.Agent, rest.Route{})
		}
	}
	return all, missing
}

// derive returns a call with the required members of the input. It is expected not to need
// the account. It fails for a member that is not seeded.
func derive(op core.Operation, surface core.Surface, route rest.Route) (call, error) {
	c := call{operation: op.Info().Name, method: route.Method, path: route.Path, manner: untouched}
	arguments, err := required(op, surface)
	if err != nil {
		return c, err
	}
	for name, value := range arguments {
		if in := "{" + name + "}"; strings.Contains(c.path, in) {
			c.path = strings.ReplaceAll(c.path, in, strings.ReplaceAll(url.PathEscape(fmt.Sprint(value)), "@", "%40"))
			delete(arguments, name)
		}
	}
	takesBody := surface == core.Agent || slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, route.Method)
	switch {
	case route.Items != "" || !takesBody && len(arguments) > 0:
		return c, fmt.Errorf("its arguments are not members of a body")
	case takesBody:
		text, err := json.Marshal(arguments)
		c.body = string(text)
		return c, err
	}
	return c, nil
}

// required returns the required members of an operation's input. It fails for one that is
// not seeded.
func required(op core.Operation, surface core.Surface) (map[string]any, error) {
	var input member
	if err := json.Unmarshal(op.Input(surface).Text(), &input); err != nil {
		return nil, fmt.Errorf("read the input schema: %w", err)
	}
	arguments := map[string]any{}
	for _, name := range input.Required {
		value, err := input.Properties[name].example(op.Info().Name, name)
		if err != nil {
			return nil, err
		}
		arguments[name] = value
	}
	return arguments, nil
}

// member is what required reads of an input schema.
type member struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Properties map[string]member `json:"properties"`
	Required   []string          `json:"required"`
}

// example returns a value of a required member.
func (m member) example(operation, name string) (any, error) {
	if value, ok := seed(operation, name); ok {
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
	return nil, fmt.Errorf("no value of %q is in seeded", name)
}

// about returns what the failure of a derived call may mean, "" for a listed call.
func (c call) about() string {
	if slices.Contains(listed, c) {
		return ""
	}
	return fmt.Sprintf("\nthis call is derived; if it asks the account, add {%q, %q, %q, %q, refused} to listed in calls_test.go", c.operation, c.method, c.path, c.body)
}

// TestEveryOperationIsCalled on every surface that it is on.
func TestEveryOperationIsCalled(t *testing.T) {
	t.Parallel()
	for _, why := range underived {
		t.Error(why)
	}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		name := op.Info().Name
		for _, route := range rest.Routes() {
			if route.Operation == name && !slices.ContainsFunc(calls, func(c call) bool { return c.operation == name && c.method == route.Method }) {
				t.Errorf("the route of %s is not called", name)
			}
		}
		hasTool := slices.Contains(tools.Table(), name)
		if hasTool && !slices.ContainsFunc(calls, func(c call) bool { return c.operation == name && c.method == "" }) {
			t.Errorf("the tool %s is not called", name)
		}
	}
}
