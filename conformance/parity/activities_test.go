package parity

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestActivitiesAreTheSameOnBothSurfaces sends the same activities to the route POST
// /v1/activities and to the tool activities_record. Route and tool must return the same
// results, and GET /v1/activities must list the activities of both calls.
func TestActivitiesAreTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		agent, program := p.Token(t, p.MCPURL), p.Token(t, p.BaseURL)
		items := `[{"name":"paid","email":"` + p.Contact + `","properties":{"n":1.50}},{"name":"","email":"` + p.Contact + `"},` +
			`{"name":"paid","external_id":"nobody"},{"name":"paid"},{"name":"once","email":"both@example.com","dedup_mode":"once"},` +
			`{"name":"key","email":"both@example.com","idempotency_key":"k"},{"name":1},{"title":"a"},1,{"name":"a","email":"a@x.example","occurred_at":"now"}]`
		fromRoute, status := send(t, p, http.MethodPost, p.BaseURL+"/v1/activities", program, items)
		if status != http.StatusAccepted {
			t.Fatalf("%d %v", status, fromRoute)
		}
		fromTool, _ := sameness{tool: "activities_record", arguments: `{"activities":` + items + `}`}.callTool(t, p, agent)
		if diff := cmp.Diff(outcomes(fromRoute["data"]), outcomes(fromTool["items"])); diff != "" {
			t.Errorf("the results differ (- route, + tool):\n%s", diff)
		}
		if fromTool["accepted"] != 3.0 || fromTool["rejected"] != 7.0 {
			t.Errorf("the tool counts %v", fromTool)
		}
		page, _ := send(t, p, http.MethodGet, p.BaseURL+"/v1/activities?name=paid", program, "")
		var sources []any
		for _, activity := range page["data"].([]any) {
			sources = append(sources, activity.(map[string]any)["source"])
		}
		if diff := cmp.Diff([]any{"agent", "api"}, sources); diff != "" {
			t.Error(diff)
		}
		// Route and tool must give the same refusal if the request itself is invalid, and
		// not only an item in it.
		for _, wrong := range []string{`[]`} {
			route, _ := send(t, p, http.MethodPost, p.BaseURL+"/v1/activities", program, wrong)
			tool, _ := sameness{tool: "activities_record", arguments: `{"activities":` + wrong + `}`}.callTool(t, p, agent)
			comparable(route)
			comparable(tool)
			// The body of the route is an array, which the tool takes as the argument
			// `activities`. The tool's refusal names that argument. The test replaces the
			// name, so that the two refusals can be compared.
			tool["detail"] = strings.NewReplacer("`activities`", "The request", "`activities.", "`").Replace(tool["detail"].(string))
			for _, fault := range tool["errors"].([]any) {
				fault := fault.(map[string]any)
				fault["field"] = strings.TrimPrefix(strings.TrimPrefix(fault["field"].(string), "activities"), ".")
			}
			if diff := cmp.Diff(route, tool); diff != "" || route["code"] != "validation_failed" {
				t.Errorf("%s (- route, + tool):\n%s", wrong, diff)
			}
		}
	})
}

// TestAnyPropertiesAreTakenOnBothSurfaces checks that route and tool accept any JSON as the
// properties of an activity, and store it byte for byte. Two tool calls that differ only in
// properties are recorded as two activities. Segment predicates can test members of
// properties that were promoted.
func TestAnyPropertiesAreTakenOnBothSurfaces(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		agent, program := p.Token(t, p.MCPURL), p.Token(t, p.BaseURL)
		const any = `{"amount":7,"id":12345678901234567890,"note":"\u0000\ud800","twice":1,"twice":"x"}`
		const other = `{"amount":7,"id":12345678901234567891,"note":"\u0000\ud800","twice":1,"twice":"x"}`
		items := func(properties string) string {
			return `[{"name":"odd","email":"odd@example.com","properties":` + properties + `}]`
		}
		for i, properties := range []string{any, other, any} {
			tool, _ := sameness{tool: "activities_record", arguments: `{"activities":` + items(properties) + `}`}.callTool(t, p, agent)
			if tool["accepted"] != 1.0 {
				t.Fatalf("%d: %v", i, tool)
			}
		}
		if answer, status := send(t, p, http.MethodPost, p.BaseURL+"/v1/activities", program, items(any)); status != http.StatusAccepted {
			t.Fatalf("%d %v", status, answer)
		}
		page := get(t, p, program, "/v1/activities?name=odd").body
		// The third tool call repeats the first within five minutes, so it is answered as a
		// replay and not recorded. The route recorded the same properties a second time.
		if strings.Count(page, `"properties":`+any) != 2 || strings.Count(page, `"properties":`+other) != 1 {
			t.Error(page)
		}
		for property, kind := range map[string]string{"amount": "number", "id": "number", "note": "string", "twice": "string"} {
			body := `{"activity_name":"odd","property":"` + property + `","type":"` + kind + `"}`
			if answer, status := send(t, p, http.MethodPost, p.BaseURL+"/v1/activity-properties", program, body); status != http.StatusCreated {
				t.Fatalf("%d %v", status, answer)
			}
		}
		for source, want := range map[string]float64{
			`sum(amount of activity.odd) = 21`: 1, `count(activity.odd where id > 12345678901234000000) = 3`: 1,
			`exists(activity.odd where twice = "x")`: 1, `exists(activity.odd where note contains "a")`: 0, `count(activity.odd) = 3`: 1,
		} {
			answer, status := send(t, p, http.MethodPost, p.BaseURL+"/v1/segments/preview", program, sourceIs(t, source))
			if answer["count"] != want {
				t.Errorf("%s: %d %v", source, status, answer)
			}
		}
	})
}

// outcomes returns the results of recorded activities without the members activity_id and
// duplicate. These members differ between the route and the tool: each creates its own ids,
// and only the later call can find a duplicate.
func outcomes(results any) []any {
	items, _ := results.([]any)
	for _, item := range items {
		delete(item.(map[string]any), "activity_id")
		delete(item.(map[string]any), "duplicate")
	}
	return items
}
