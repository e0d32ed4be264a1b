package parity

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestSchemaListsWhatPredicatesMayTest checks the tool audience_get_schema while an
// activity property is promoted, changed and deleted over REST. From the promotion to the
// deletion the tool must list the property with its current type, and predicates must
// accept it. Other organizations must not see it.
func TestSchemaListsWhatPredicatesMayTest(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		agent, program := p.Token(t, p.MCPURL), p.Token(t, p.BaseURL)
		others := p.TokenWith(t, p.Other.Live, p.MCPURL)
		properties := func(token string) []any {
			schema, _ := sameness{tool: "audience_get_schema", arguments: `{}`}.callTool(t, p, token)
			listed, ok := schema["activity_properties"].([]any)
			if !ok {
				t.Fatalf("%v", schema)
			}
			return listed
		}
		takes := func(source string, want bool) {
			t.Helper()
			result, _ := sameness{tool: "segments_preview_predicate", arguments: `{"source":"` + source + `"}`}.callTool(t, p, agent)
			if (result["error"] == nil) != want {
				t.Errorf("%s: %v", source, result)
			}
		}
		define := func(method, path, body string, status int) map[string]any {
			t.Helper()
			answer, got := send(t, p, method, p.BaseURL+path, program, body)
			if got != status {
				t.Fatalf("%s %s: %d %v", method, path, got, answer)
			}
			return answer
		}
		before := properties(agent)
		const quota = "count(activity.schema_paid where quota > 10 within 30d) >= 1"
		takes(quota, false)

		second := define("POST", "/v1/activity-properties", `{"activity_name":"schema_paid","property":"quota","type":"number","description":"Said to programs"}`, http.StatusCreated)
		first := define("POST", "/v1/activity-properties", `{"activity_name":"a_first","property":"at","type":"datetime"}`, http.StatusCreated)
		number := map[string]any{"activity": "schema_paid", "property": "quota", "type": "number"}
		date := map[string]any{"activity": "a_first", "property": "at", "type": "datetime"}
		want := append(append([]any{date}, before...), number)
		if diff := cmp.Diff(want, properties(agent)); diff != "" {
			t.Errorf("(- want, + listed):\n%s", diff)
		}
		takes(quota, true)
		for _, theirs := range properties(others) {
			if cmp.Equal(theirs, any(number)) || cmp.Equal(theirs, any(date)) {
				t.Errorf("another organization reads %v", theirs)
			}
		}

		address := "/v1/activity-properties/" + second["id"].(string)
		define("PUT", address, `{"activity_name":"schema_paid","property":"quota","type":"string"}`, http.StatusOK)
		number["type"] = "string"
		if diff := cmp.Diff(want, properties(agent)); diff != "" {
			t.Errorf("after the change (- want, + listed):\n%s", diff)
		}
		takes(quota, false)
		define("DELETE", address, "", http.StatusOK)
		define("DELETE", "/v1/activity-properties/"+first["id"].(string), "", http.StatusOK)
		if diff := cmp.Diff(before, properties(agent)); diff != "" {
			t.Errorf("after the end (- want, + listed):\n%s", diff)
		}
	})
}
