package server

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/ordinary"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/tools"
)

// calls has a call of every operation by its route and by its tool: those in the table
// [listed], and calls that are built from the declarations of the other operations.
// underived has an error text for each call that cannot be built.
var calls, underived = allCalls()

// seeded has values for the required arguments of calls that are built from the operations'
// declarations, such as the ids of data that the method begin creates.
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
	"broadcasts_ id":          "drafted-ROUND",
	"workflows_ id":           "journey",
	"activity_properties_ id": readProperty,

	"assets_ id":            "IMAGE",
	"inboxes_ id":           readInbox,
	"inbox_pull_tokens_ id": readInbox,

	"broadcast_id": "drafted-ROUND",

	"activity_properties_ activity_name": "faults",
	"activity_properties_ property":      "read",
	"attributes_ name":                   "read",
}

// allCalls returns the calls in the table [listed], and one for each other route and tool,
// which it builds from the operation's declaration. The second result has an error text for
// each call that cannot be built. Calls that it builds are expected not to use the sending
// account.
func allCalls() ([]call, []string) {
	all, missing := slices.Clone(listed), []string{}
	add := func(operation, method string, derive func() (ordinary.Call, error)) {
		if slices.ContainsFunc(listed, func(c call) bool { return c.operation == operation && c.method == method }) {
			return
		}
		c, err := derive()
		if err != nil {
			missing = append(missing, fmt.Sprintf("add {%q, %q, path, arguments, untouched} to listed in faults_calls_test.go: %v", operation, method, err))
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

// derivedHint returns a hint to append to the message of a failed call. The hint says that
// a call that uses the sending account must be an entry of the variable listed. For such an
// entry it returns "".
func (c call) derivedHint() string {
	if slices.Contains(listed, c) {
		return ""
	}
	return fmt.Sprintf("\nthis call is derived; if it asks the account, add {%q, %q, %q, %q, refused} to listed in faults_calls_test.go", c.operation, c.method, c.path, c.body)
}

// TestEveryOperationIsCalled checks that the tests call every operation by each of its
// routes and by its tool.
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
