package faults

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/ordinary"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/tools"
)

// calls has the calls of all operations on both surfaces: those in the table [listed], and
// derived calls for the other operations. underived has a sentence for each call that
// cannot be derived.
var calls, underived = allCalls()

// seeded has the values of arguments in derived calls, such as ids of data that the round
// created.
var seeded = ordinary.Values{
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

// allCalls returns the calls in the table [listed] and a derived call for each other
// operation and surface, and an error text for each call that cannot be derived. It assumes
// that derived calls do not use the account.
func allCalls() ([]call, []string) {
	all, missing := slices.Clone(listed), []string{}
	add := func(operation, method string, derive func() (ordinary.Call, error)) {
		if slices.ContainsFunc(listed, func(c call) bool { return c.operation == operation && c.method == method }) {
			return
		}
		c, err := derive()
		if err != nil {
			missing = append(missing, fmt.Sprintf("add {%q, %q, path, arguments, untouched} to listed in calls_test.go: %v", operation, method, err))
			return
		}
		all = append(all, call{operation, c.Method, c.Path, c.Body, untouched})
	}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		name := op.Info().Name
		for _, route := range rest.Routes() {
			if route.Operation == name {
				add(name, route.Method, func() (ordinary.Call, error) { return ordinary.Route(op, route, seeded) })
			}
		}
		if slices.Contains(tools.Table(), name) {
			add(name, "", func() (ordinary.Call, error) { return ordinary.Tool(op, seeded) })
		}
	}
	return all, missing
}

// about returns a hint to append to the failure of a derived call: its operation may use
// the account. It returns "" for a call that is not derived.
func (c call) about() string {
	if slices.Contains(listed, c) {
		return ""
	}
	return fmt.Sprintf("\nthis call is derived; if it asks the account, add {%q, %q, %q, %q, refused} to listed in calls_test.go", c.operation, c.method, c.path, c.body)
}

// TestEveryOperationIsCalled checks that calls has a call of every operation, for each
// route and tool that the operation has.
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
