package parity

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/ordinary"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/tools"
)

// sameness is a test case: a call that is made both by the tool and by the route, and whose
// results must be equal.
type sameness struct {
	name      string
	tool      string
	arguments string
	method    string
	path      string
	body      string // of the route
	live      bool   // true: live credentials; false: test credentials
	scopes    []string
	faults    []simulator.Fault
	// toolCode is the error code of the tool, if the route fails with another code.
	// Otherwise it is "".
	toolCode string
	// pick returns the parts of the tool's and the route's result that must be equal. If
	// pick is nil, only problem documents are compared, for example because the route
	// returns no body.
	pick func(tool, route map[string]any) (map[string]any, map[string]any)
}

func contactOf(tool, route map[string]any) (map[string]any, map[string]any) {
	return tool["contact"].(map[string]any), route
}

func itemsOf(tool, route map[string]any) (map[string]any, map[string]any) {
	return map[string]any{"items": tool["items"]}, map[string]any{"items": route["data"]}
}

func cases(p *product.Product) []sameness {
	contact := `{"email":"` + p.Contact + `"}`
	of := func(email string) string { return "/v1/contacts/" + strings.ReplaceAll(email, "@", "%40") }
	view, manage, segments := []string{"api.contacts.view"}, []string{"api.contacts.manage"}, []string{"api.segments.view"}
	messages, reports := []string{"api.messages.view"}, []string{"api.reports.view"}
	mail := []string{"api.broadcasts.view", "api.broadcasts.manage"}
	unmasked := append(messages, "api.messages.unmask_recipients")
	down := []simulator.Fault{{Kind: sending.Throttled}}
	gone := []simulator.Fault{{Kind: sending.TimedOut}}
	return []sameness{
		{name: "a contact", tool: "contacts_lookup", arguments: contact, method: "GET", path: of(p.Contact), live: true, scopes: view, pick: contactOf},
		{name: "a contact, test credentials", tool: "contacts_lookup", arguments: contact, method: "GET", path: of(p.Contact), scopes: view, pick: contactOf},
		{name: "nobody", tool: "contacts_lookup", arguments: `{"email":"nobody@example.com"}`, method: "GET", path: of("nobody@example.com"), live: true, scopes: view},
		{name: "somebody else's contact", tool: "contacts_lookup", arguments: `{"email":"` + p.Other.Contact + `"}`, method: "GET", path: of(p.Other.Contact), live: true, scopes: view},
		{name: "no address", tool: "contacts_lookup", arguments: `{"email":"no-address"}`, method: "GET", path: of("no-address"), live: true, scopes: view},
		{name: "account throttles", tool: "contacts_lookup", arguments: contact, method: "GET", path: of(p.Contact), live: true, scopes: view, faults: down},
		{name: "account is silent", tool: "contacts_lookup", arguments: contact, method: "GET", path: of(p.Contact), live: true, scopes: view, faults: gone},
		{name: "lists", tool: "lists_list", arguments: `{}`, method: "GET", path: "/v1/lists", live: true, scopes: []string{"api.lists.view"}, pick: itemsOf},
		{name: "lists, bad limit", tool: "lists_list", arguments: `{"limit":201}`, method: "GET", path: "/v1/lists?limit=201", live: true, scopes: []string{"api.lists.view"}},
		{name: "segments", tool: "segments_list", arguments: `{}`, method: "GET", path: "/v1/segments", live: true, scopes: segments, pick: segmentsForAgent},
		{name: "segments, test credentials", tool: "segments_list", arguments: `{"limit":1}`, method: "GET", path: "/v1/segments?limit=1", scopes: segments, pick: segmentsForAgent},
		{name: "segments, bad limit", tool: "segments_list", arguments: `{"limit":201}`, method: "GET", path: "/v1/segments?limit=201", live: true, scopes: segments},
		{name: "segments, missing scope", tool: "segments_list", arguments: `{}`, method: "GET", path: "/v1/segments", live: true, scopes: view},
		{name: "templates", tool: "templates_list", arguments: `{}`, method: "GET", path: "/v1/templates", live: true, scopes: []string{"api.templates.view"}, pick: itemsOf},
		{name: "templates, missing scope", tool: "templates_list", arguments: `{}`, method: "GET", path: "/v1/templates", live: true, scopes: view},
		{name: "messages", tool: "messages_search", arguments: `{"status":"Bounce","template":"welcome"}`, method: "GET", path: "/v1/messages?status=Bounce&template=welcome", live: true, scopes: messages, pick: itemsOf},
		{name: "messages, recipients in full", tool: "messages_search", arguments: `{"recipient":"` + recipient + `"}`, method: "GET", path: "/v1/messages?recipient=" + recipient, live: true, scopes: unmasked, pick: itemsOf},
		{name: "messages of a recipient", tool: "messages_search", arguments: `{"recipient":"` + recipient + `"}`, method: "GET", path: "/v1/recipients/" + recipient + "/messages", live: true, scopes: unmasked, pick: itemsOf},
		{name: "messages by recipient without the scope", tool: "messages_search", arguments: `{"recipient":"` + recipient + `"}`, method: "GET", path: "/v1/messages?recipient=" + recipient, live: true, scopes: messages, toolCode: "missing_scope"},
		{name: "messages before the retention", tool: "messages_search", arguments: `{"from":"2001-01-01T00:00:00Z"}`, method: "GET", path: "/v1/messages?from=2001-01-01T00:00:00Z", live: true, scopes: messages},
		{name: "a window that ends before it starts", tool: "messages_search", arguments: `{"from":"2100-01-02T00:00:00Z"}`, method: "GET", path: "/v1/messages?from=2100-01-02T00:00:00Z", live: true, scopes: messages},
		{name: "a message", tool: "messages_diagnose", arguments: `{"message_id":"parity"}`, method: "GET", path: "/v1/messages/parity", live: true, scopes: messages, pick: messageOf},
		{name: "the events of a message", tool: "messages_diagnose", arguments: `{"message_id":"parity"}`, method: "GET", path: "/v1/messages/parity/events", live: true, scopes: messages, pick: eventsOf},
		{name: "no message", tool: "messages_diagnose", arguments: `{"message_id":"nothing"}`, method: "GET", path: "/v1/messages/nothing", live: true, scopes: messages},
		{name: "no message to have events", tool: "messages_diagnose", arguments: `{"message_id":"nothing"}`, method: "GET", path: "/v1/messages/nothing/events", live: true, scopes: messages},
		{name: "a message without the scope", tool: "messages_diagnose", arguments: `{"message_id":"parity"}`, method: "GET", path: "/v1/messages/parity", live: true, scopes: view},
		{name: "a report before the retention", tool: "reports_get_sending_health", arguments: `{"from":"2001-01-01T00:00:00Z"}`, method: "GET", path: "/v1/reports/deliverability?from=2001-01-01T00:00:00Z", live: true, scopes: reports},
		{name: "a report that ends before it starts", tool: "reports_get_sending_health", arguments: `{"from":"2100-01-02T00:00:00Z"}`, method: "GET", path: "/v1/reports/engagement?from=2100-01-02T00:00:00Z", live: true, scopes: reports},
		{name: "a report without the scope", tool: "reports_get_sending_health", arguments: `{}`, method: "GET", path: "/v1/reports/template-performance", live: true, scopes: view},
		{name: "test credentials may not archive", tool: "contacts_archive", arguments: contact, method: "DELETE", path: of(p.Contact), scopes: manage},
		{name: "archiving nobody", tool: "contacts_archive", arguments: `{"email":"nobody@example.com"}`, method: "DELETE", path: of("nobody@example.com"), live: true, scopes: manage},
		{name: "no broadcast to preview", tool: "broadcasts_preview", arguments: `{"broadcast_id":"none"}`, method: "POST", path: "/v1/broadcasts/none/preview", body: `{}`, live: true, scopes: mail},
		{name: "no broadcast to test", tool: "broadcasts_test_send", arguments: `{"broadcast_id":"none","recipients":["ann@example.com"]}`, method: "POST", path: "/v1/broadcasts/none/test", body: `{"recipients":["ann@example.com"]}`, live: true, scopes: mail},
		{name: "a test to no address", tool: "broadcasts_test_send", arguments: `{"broadcast_id":"none","recipients":["ann"]}`, method: "POST", path: "/v1/broadcasts/none/test", body: `{"recipients":["ann"]}`, live: true, scopes: mail},
		{name: "no broadcast to send", tool: "broadcasts_send", arguments: `{"broadcast_id":"none"}`, method: "POST", path: "/v1/broadcasts/none/send", body: `{}`, live: true, scopes: mail},
		{name: "test credentials may not send", tool: "broadcasts_send", arguments: `{"broadcast_id":"none"}`, method: "POST", path: "/v1/broadcasts/none/send", body: `{}`, scopes: mail},
		{name: "sending without the scope", tool: "broadcasts_send", arguments: `{"broadcast_id":"none"}`, method: "POST", path: "/v1/broadcasts/none/send", body: `{}`, live: true, scopes: mail[:1]},
		{name: "missing scope", tool: "contacts_archive", arguments: contact, method: "DELETE", path: of(p.Contact), live: true, scopes: view},
	}
}

// comparedElsewhere has the names of tools that other test files compare with their routes.
var comparedElsewhere = []string{"activities_record", "segments_preview_predicate", "workflows_dry_run"}

// ordinaryCases returns a test case for each operation with a tool and a route that has no
// case in a table. The calls use live credentials and only the required arguments.
func ordinaryCases(t *testing.T, p *product.Product) []sameness {
	t.Helper()
	var all []sameness
	listed := slices.Concat(cases(p), suppressionCases())
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		isListed := slices.Contains(comparedElsewhere, info.Name) || slices.ContainsFunc(listed, func(c sameness) bool { return c.tool == info.Name })
		at := slices.IndexFunc(rest.Routes(), func(r rest.Route) bool { return r.Operation == info.Name })
		if at < 0 || isListed || !slices.Contains(tools.Table(), info.Name) {
			continue
		}
		known := ordinary.Values{"email": p.Contact, "contact": p.Contact}
		byTool, err := ordinary.Tool(op, known)
		byRoute, routeErr := ordinary.Route(op, rest.Routes()[at], known)
		if err = errors.Join(err, routeErr); err != nil || byRoute.Body != "" {
			t.Errorf("add a case of %s to cases in parity_test.go, or compare it in a test of its own and name it in comparedElsewhere: %v", info.Name, err)
			continue
		}
		all = append(all, sameness{
			name: info.Name, tool: info.Name, arguments: byTool.Body, method: byRoute.Method, path: byRoute.Path, live: true,
			scopes: core.Scopes(info.Scopes).Strings(), pick: itemsOrBodies,
		})
	}
	return all
}

// itemsOrBodies returns the results of the tool and of the route for comparison. If the
// route returns a page, it reduces both results to their items; otherwise it returns both
// complete.
func itemsOrBodies(tool, route map[string]any) (map[string]any, map[string]any) {
	if _, isPage := route["data"]; isPage {
		return itemsOf(tool, route)
	}
	return tool, route
}

func TestToolAndRouteSayTheSame(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		recordMessages(t, p)
		for _, c := range slices.Concat(cases(p), ordinaryCases(t, p)) {
			t.Run(c.name, func(t *testing.T) { c.check(t, p) })
		}
	})
}

func (c sameness) check(t *testing.T, p *product.Product) {
	p.Simulator.Faults().Set(c.faults...)
	defer p.Simulator.Faults().Clear()
	credentials := p.Test
	if c.live {
		credentials = p.Live
	}
	tool, toolStatus := c.callTool(t, p, p.TokenWith(t, credentials, p.MCPURL, c.scopes...))
	route, routeStatus := c.callRoute(t, p, p.TokenWith(t, credentials, p.BaseURL, c.scopes...))
	if routeStatus >= 400 {
		comparable(tool)
		comparable(route)
		if c.toolCode != "" {
			c.checkCodes(t, tool, route)
		}
		if diff := cmp.Diff(route, tool); diff != "" {
			t.Errorf("the problems differ (- route, + tool):\n%s", diff)
		}
		return
	}
	if toolStatus != http.StatusOK || tool["code"] != nil {
		t.Fatalf("the route answers %d, the tool refuses: %v", routeStatus, tool)
	}
	if c.pick == nil {
		return
	}
	fromTool, fromRoute := c.pick(tool, route)
	if diff := cmp.Diff(fromRoute, fromTool); diff != "" {
		t.Errorf("the results differ (- route, + tool):\n%s", diff)
	}
}

// checkCodes checks that the tool fails with the code in toolCode and the route with
// another code. It removes code, title and type from both problems, so that the rest can be
// compared.
func (c sameness) checkCodes(t *testing.T, tool, route map[string]any) {
	t.Helper()
	if tool["code"] != c.toolCode || route["code"] == c.toolCode {
		t.Errorf("the tool refuses with %v and the route with %v, want %s from the tool alone", tool["code"], route["code"], c.toolCode)
	}
	for _, member := range []string{"code", "title", "type"} {
		delete(tool, member)
		delete(route, member)
	}
}

// comparable removes the members of a problem that differ between requests or between route
// and tool. request_id is new for every request. next_step is a call for a tool and a
// sentence for a route. Only tools have message and hint.
func comparable(problem map[string]any) {
	for _, member := range []string{"request_id", "message", "hint", "next_step"} {
		delete(problem, member)
	}
}

func (c sameness) callTool(t *testing.T, p *product.Product, token string) (map[string]any, int) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + c.tool + `","arguments":` + c.arguments + `}}`
	answer, status := send(t, p, http.MethodPost, p.MCPURL+"/mcp", token, body)
	result, ok := answer["result"].(map[string]any)
	if !ok {
		return answer, status // the request was refused before the tool ran, so the answer is a problem document
	}
	return result["structuredContent"].(map[string]any), status
}

func (c sameness) callRoute(t *testing.T, p *product.Product, token string) (map[string]any, int) {
	t.Helper()
	return send(t, p, c.method, p.BaseURL+c.path, token, c.body)
}

// TestEveryOperationIsReachableAndComparedWhereItCan checks that every operation has a
// tool, a route or both. For an operation with both, this package must have a case that
// compares them.
func TestEveryOperationIsReachableAndComparedWhereItCan(t *testing.T) {
	t.Parallel()
	compared := map[string]bool{}
	for _, c := range slices.Concat(cases(&product.Product{}), suppressionCases(), ordinaryCases(t, &product.Product{})) {
		compared[c.tool] = true
	}
	// these operations take a body, and ordinaryCases accepts no call with a body
	for _, name := range comparedElsewhere {
		compared[name] = true
	}
	hasTool, hasRoute := map[string]bool{}, map[string]bool{}
	for _, name := range tools.Table() {
		hasTool[name] = true
	}
	for _, route := range rest.Routes() {
		hasRoute[route.Operation] = true
	}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		name := op.Info().Name
		switch {
		case !hasTool[name] && !hasRoute[name]:
			t.Errorf("%s has neither a tool nor a route", name)
		case hasTool[name] && hasRoute[name] && !compared[name]:
			t.Errorf("%s has a tool and a route and no case here", name)
		}
	}
}
