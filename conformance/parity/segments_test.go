package parity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// segmentsForAgent returns the segments in the tool's and in the route's result. From those
// of the route it removes the members in hiddenOfSegments that the tool leaves out.
func segmentsForAgent(tool, route map[string]any) (map[string]any, map[string]any) {
	seen, all := tool["items"].([]any), route["data"].([]any)
	for i := range min(len(seen), len(all)) {
		brief, whole := seen[i].(map[string]any), all[i].(map[string]any)
		for member := range whole {
			if _, shown := brief[member]; !shown && hiddenOfSegments[member] {
				delete(whole, member)
			}
		}
	}
	return itemsOf(tool, route)
}

// hiddenOfSegments has the members of a segment that the tool may leave out and the route
// returns, because results for agents should be short.
var hiddenOfSegments = map[string]bool{
	"description": true, "profile_version": true, "eval_warning_at": true, "origin": true, "source_path": true, "created_at": true, "updated_at": true,
}

// TestPredicatesFindTheSameOnBothSurfaces checks segment previews. For a valid predicate,
// route and tool must return the same contacts. For a faulty one, both must describe the
// same fault. The route refuses the request. The tool has the fault in its result, so that
// agents can correct the predicate.
func TestPredicatesFindTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		const scope = "api.segments.view"
		agent, program := p.TokenWith(t, p.Live, p.MCPURL, scope), p.TokenWith(t, p.Live, p.BaseURL, scope)
		preview := func(arguments string) (tool, route map[string]any, status int) {
			route, status = send(t, p, http.MethodPost, p.BaseURL+"/v1/segments/preview", program, arguments)
			tool, _ = sameness{tool: "segments_preview_predicate", arguments: arguments}.callTool(t, p, agent)
			return tool, route, status
		}
		for source, found := range map[string]bool{
			`attr.orders >= 10`: true, `attr.orders > 1 or attr.city is known`: true, `not attr.orders > 1000000`: true, `attr.orders > 1000000`: false,
		} {
			tool, route, status := preview(sourceIs(t, source))
			if count, _ := route["count"].(float64); status != http.StatusOK || (count > 0) != found {
				t.Fatalf("%s: %d %v", source, status, route)
			}
			for _, member := range []string{"count", "eval_class", "sample"} {
				if diff := cmp.Diff(route[member], tool[member]); diff != "" || route[member] == nil {
					t.Errorf("%s of %s differs (- route, + tool):\n%s", member, source, diff)
				}
			}
		}
		for _, source := range []string{`attr.order > 1`, `attr.nothing_near = 1`, `subscribed to "weather"`, `in segment "nothing-near"`, `attr.orders >`, `attr.orders > "many"`, `)`, `attr.orders`} {
			tool, route, status := preview(sourceIs(t, source))
			problem, _ := tool["error"].(map[string]any)
			first, _ := route["errors"].([]any)
			if status != http.StatusUnprocessableEntity || route["code"] != "validation_failed" || tool["code"] != nil || len(first) == 0 {
				t.Errorf("%s: the route answers %d %v, the tool %v", source, status, route, tool)
				continue
			}
			reason := fmt.Sprintf("line %v, column %v: %v", problem["line"], problem["column"], problem["message"])
			if want := (map[string]any{"field": "source", "reason": reason}); !cmp.Equal(want, first[0]) {
				t.Errorf("%s: the route says %v first, the tool %v", source, first[0], problem)
			}
		}
		tool, _, _ := preview(sourceIs(t, `attr.nothing_near = 1`))
		if problem, _ := tool["error"].(map[string]any); !strings.Contains(fmt.Sprint(problem["message"]), `; there are "city", `) {
			t.Errorf("who names nothing that there is learns %v", problem)
		}
		// Calls without a predicate, or with another invalid argument, get the same refusal
		// from route and tool.
		for _, arguments := range []string{`{}`, `{"source":""}`, `{"source":1}`, `{"source":"attr.orders > 1","limit":1}`} {
			tool, route, _ := preview(arguments)
			comparable(route)
			comparable(tool)
			if diff := cmp.Diff(route, tool); diff != "" || route["code"] != "validation_failed" {
				t.Errorf("%s (- route, + tool):\n%s", arguments, diff)
			}
		}
	})
}

// TestPredicatesHaveTheSameLimitsOnBothSurfaces checks the limits of predicates, such as
// 200 nodes. Route and tool must accept a predicate at the limit, and refuse one that is
// just above it.
func TestPredicatesHaveTheSameLimitsOnBothSurfaces(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		const scope, short, long = "api.segments.view", 65_536, 70_000
		agent, program := p.TokenWith(t, p.Live, p.MCPURL, scope), p.TokenWith(t, p.Live, p.BaseURL, scope)
		for limit, source := range map[string]func(n int) string{
			"200 nodes":            func(n int) string { return joined(199+n, "suppressed", " and ") },
			"20 levels of not":     func(n int) string { return strings.Repeat("not ", 19+n) + "suppressed" },
			"20 levels of (":       func(n int) string { return strings.Repeat("(", 19+n) + "suppressed" + strings.Repeat(")", 19+n) },
			"100 items":            func(n int) string { return "attr.orders in [" + joined(100+n, "1", ",") + "]" },
			"8 event terms":        func(n int) string { return joined(8+n, "exists(open)", " or ") },
			"8 lists and segments": func(n int) string { return joined(8+n, `in list "newsletter"`, " or ") },
			"64 KiB":               func(n int) string { return "suppressed" + strings.Repeat(" ", short-10+n) },
			"64 KiB in fewer characters": func(n int) string {
				return `suppressed # ` + strings.Repeat("é", map[int]int{0: short/2 - 7, 1: long / 2}[n])
			},
		} {
			for beyond := range 2 {
				arguments := sourceIs(t, source(beyond))
				route, status := send(t, p, http.MethodPost, p.BaseURL+"/v1/segments/preview", program, arguments)
				tool, _ := sameness{tool: "segments_preview_predicate", arguments: arguments}.callTool(t, p, agent)
				refused := status == http.StatusUnprocessableEntity && route["code"] == "validation_failed"
				toolRefuses := tool["error"] != nil || tool["code"] == "validation_failed"
				if refused != (beyond == 1) || toolRefuses != refused || !refused && (status != http.StatusOK || tool["count"] != route["count"]) {
					t.Errorf("%s and %d more: %d %v, the tool %v", limit, beyond, status, route, tool)
				}
			}
		}
	})
}

// joined returns n copies of text, with the separator by between them.
func joined(n int, text, by string) string {
	return strings.TrimSuffix(strings.Repeat(text+by, n), by)
}

// TestPreviewsCountOwnContactsOnly checks that the preview of a segment neither counts nor
// shows contacts of another organization, by route or tool.
func TestPreviewsCountOwnContactsOnly(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		const scope = "api.segments.view"
		for _, side := range []struct{ own, other product.Org }{{p.Org, p.Other}, {p.Other, p.Org}} {
			agent, program := p.TokenWith(t, side.own.Live, p.MCPURL, scope), p.TokenWith(t, side.own.Live, p.BaseURL, scope)
			for source, found := range map[string]bool{
				fmt.Sprintf("attr.email = %q", side.own.Contact): true, fmt.Sprintf("attr.email = %q", side.other.Contact): false,
				fmt.Sprintf("attr.email in [%q, %q]", side.own.Contact, side.other.Contact):                                    true,
				fmt.Sprintf("not attr.email = %q", side.own.Contact) + fmt.Sprintf(" and attr.email = %q", side.other.Contact): false,
				fmt.Sprintf("not exists(open) and not suppressed and attr.email = %q", side.other.Contact):                     false,
			} {
				arguments := sourceIs(t, source)
				route, status := send(t, p, http.MethodPost, p.BaseURL+"/v1/segments/preview", program, arguments)
				tool, _ := sameness{tool: "segments_preview_predicate", arguments: arguments}.callTool(t, p, agent)
				for surface, got := range map[string]map[string]any{"the route": route, "the tool": tool} {
					sample, _ := got["sample"].([]any)
					count := map[bool]float64{true: 1, false: 0}[found]
					if status != http.StatusOK || got["count"] != count || len(sample) != int(count) {
						t.Errorf("%s: %s answers %d %v", source, surface, status, got)
						continue
					}
					if found && sample[0].(map[string]any)["email"] != side.own.Contact {
						t.Errorf("%s: %s shows %v", source, surface, sample)
					}
				}
			}
		}
	})
}

func sourceIs(t *testing.T, source string) string {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"source": source})
	if err != nil {
		t.Fatal(err)
	}
	return string(arguments)
}
