package server

import (
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

const (
	metaTrace   = "4bf92f3577b34da6a3ce929d0e0e4736"
	metaSpan    = "00f067aa0ba902b7"
	headerTrace = "0af7651916cd43dd8448eb211c80319c"
	headerSpan  = "b7ad6b7169203331"
)

func traceparent(trace, span string) string { return "00-" + trace + "-" + span + "-01" }

// traced starts a product that sends spans to a collector, runs requests against it and
// stops it. The product sends its last spans when it stops, so the returned collector has
// them all.
func traced(t *testing.T, requests func(t *testing.T, p *product.Product)) (*collector, *product.Product) {
	t.Helper()
	c := startCollector(t)
	var p *product.Product
	t.Run("requests", func(t *testing.T) {
		p = product.Start(t, product.Options{OTLPEndpoint: c.url})
		requests(t, p)
	})
	return c, p
}

// TestParents checks the parents of spans. If _meta of a tool call names a parent, the span
// has that parent, and a link to the span that the traceparent header names. If _meta names
// none, the parent is the span in the traceparent header. The span of an operation is a
// child of the span of its request.
func TestParents(t *testing.T) {
	t.Parallel()
	meta := `"traceparent":"` + traceparent(metaTrace, metaSpan) + `","tracestate":"vendor=one","baggage":"who=nobody"`
	c, _ := traced(t, func(t *testing.T, p *product.Product) {
		token := p.Token(t, p.MCPURL)
		for _, sent := range []struct {
			id, tool, meta string
			header         bool
		}{
			{"1", "contacts_lookup", meta, true},
			{"2", "lists_list", "", true},
			{"3", "audience_get_schema", meta, false},
			{"4", "sending_readiness_check", `"traceparent":"nonsense"`, false},
		} {
			a := toAgent(p, token, toolCall(sent.id, sent.tool, argumentsOf(sent.tool), metaWith(sent.meta)))
			if sent.header {
				a.header["Traceparent"] = traceparent(headerTrace, headerSpan)
			}
			if got := ask(t, p.HTTP, a); got.status != http.StatusOK {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		ask(t, p.HTTP, request{http.MethodGet, p.BaseURL + "/v1/contacts/nobody@example.com", p.Live.APIKey, "", map[string]string{"Traceparent": traceparent(headerTrace, headerSpan)}})
	})
	for _, tc := range []struct{ span, below, trace, parent, link string }{
		{"tools/call contacts_lookup", "", metaTrace, metaSpan, headerSpan},
		{"tools/call lists_list", "lists_list", headerTrace, headerSpan, ""},
		{"tools/call audience_get_schema", "audience_get_schema", metaTrace, metaSpan, ""},
		{"tools/call sending_readiness_check", "sending_readiness_check", "", "", ""},
		{"GET /v1/contacts/{email}", "", headerTrace, headerSpan, ""},
	} {
		s := c.one(t, tc.span)
		if s.Kind != tracepb.Span_SPAN_KIND_SERVER || hex.EncodeToString(s.ParentSpanId) != tc.parent || tc.trace != "" && hex.EncodeToString(s.TraceId) != tc.trace {
			t.Errorf("%s: kind %v, trace %x, parent %x", tc.span, s.Kind, s.TraceId, s.ParentSpanId)
		}
		if linked := linksOf(s); linked != tc.link {
			t.Errorf("%s: linked to %q", tc.span, linked)
		}
		if tc.trace == metaTrace && s.TraceState != "vendor=one" {
			t.Errorf("%s: trace state %q", tc.span, s.TraceState)
		}
		if tc.below != "" {
			wantBelow(t, s, c.one(t, tc.below))
		}
	}
	lookups := c.named(t, "contacts_lookup")
	if len(lookups) != 2 {
		t.Fatalf("%d operations were traced", len(lookups))
	}
	for _, operation := range lookups {
		parent := c.one(t, map[string]string{"agent": "tools/call contacts_lookup", "rest": "GET /v1/contacts/{email}"}[texts(operation.Attributes)["mailhelm.surface"]])
		wantBelow(t, parent, operation)
	}
}

func argumentsOf(tool string) string {
	if tool == "contacts_lookup" {
		return `{"email":"nobody@example.com"}`
	}
	return `{}`
}

func linksOf(s *tracepb.Span) string {
	var linked []string
	for _, l := range s.Links {
		linked = append(linked, hex.EncodeToString(l.SpanId))
	}
	return strings.Join(linked, ",")
}

func wantBelow(t *testing.T, parent, child *tracepb.Span) {
	t.Helper()
	if !slices.Equal(child.ParentSpanId, parent.SpanId) || !slices.Equal(child.TraceId, parent.TraceId) || child.Kind != tracepb.Span_SPAN_KIND_INTERNAL {
		t.Errorf("%s is not below %s", child.Name, parent.Name)
	}
}

// TestAttributes checks the exact attributes of each span, which follow OpenTelemetry's
// conventions. They must include error.type if the call failed. No span may contain an
// address or a credential.
func TestAttributes(t *testing.T) {
	t.Parallel()
	c, p := traced(t, func(t *testing.T, p *product.Product) {
		token, narrow := p.Token(t, p.MCPURL), p.Token(t, p.MCPURL, "api.account.view")
		for _, a := range []request{
			toAgent(p, token, toolCall("7", "lists_list", `{}`, "")),
			toAgent(p, token, toolCall(`"call-8"`, "contacts_upsert", `{"nothing":1}`, "")),
			toAgent(p, token, toolCall("9", "made_up", `{}`, "")),
			toAgent(p, narrow, toolCall(`"eve@example.com"`, "contacts_archive", `{}`, "")),
			toAgent(p, token, `{"jsonrpc":"2.0","id":10,"method":"made/up"}`),
			toAgent(p, token, `{"jsonrpc"`),
			toAgent(p, token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`),
			{http.MethodGet, p.BaseURL + "/v1/contacts/eve@example.com?made=up", p.Live.APIKey, "", nil},
			{"BREW", p.BaseURL + "/v1/contacts", p.Live.APIKey, "", nil},
		} {
			ask(t, p.HTTP, a)
		}
		p.Simulator.Faults().Set(simulator.Fault{Kind: sending.TimedOut})
		ask(t, p.HTTP, request{http.MethodPost, p.BaseURL + "/v1/contacts", p.Live.APIKey, `{"email":"eve@example.com"}`, nil})
	})
	atMCP, atAPI := placeOf(t, p.MCPURL), placeOf(t, p.BaseURL)
	maps.Copy(atMCP, map[string]string{"network.transport": "tcp", "network.protocol.name": "http"})
	maps.Copy(atAPI, map[string]string{"url.scheme": "http"})
	call := map[string]string{"gen_ai.operation.name": "execute_tool"}
	for _, tc := range []struct {
		span   string
		failed bool
		want   []map[string]string
	}{
		{"tools/call lists_list", false, []map[string]string{atMCP, messageOf("tools/call", "7"), call, {"gen_ai.tool.name": "lists_list"}}},
		{"tools/call contacts_upsert", true, []map[string]string{atMCP, messageOf("tools/call", "call-8"), call, {"gen_ai.tool.name": "contacts_upsert", "error.type": "tool_error"}}},
		{"tools/call", true, []map[string]string{atMCP, messageOf("tools/call", "9"), {"error.type": "-32602", "rpc.response.status_code": "-32602", "http.response.status_code": "200"}}},
		{"tools/call contacts_archive", true, []map[string]string{atMCP, messageOf("tools/call", ""), call, {"gen_ai.tool.name": "contacts_archive", "error.type": "invalid_scope", "http.response.status_code": "403"}}},
		{"_OTHER", true, []map[string]string{atMCP, messageOf("_OTHER", "10"), {"error.type": "-32601", "rpc.response.status_code": "-32601", "http.response.status_code": "200"}}},
		{"POST /mcp", true, []map[string]string{atMCP, {"http.request.method": "POST", "http.route": "/mcp", "error.type": "-32700", "rpc.response.status_code": "-32700", "http.response.status_code": "400"}}},
		{"notifications/initialized", false, []map[string]string{atMCP, messageOf("notifications/initialized", "")}},
		{"GET /v1/contacts/{email}", false, []map[string]string{atAPI, {"http.request.method": "GET", "http.route": "/v1/contacts/{email}", "http.response.status_code": "422"}}},
		{"HTTP", false, []map[string]string{atAPI, {"http.request.method": "_OTHER", "http.response.status_code": "405"}}},
		{"POST /v1/contacts", true, []map[string]string{atAPI, {"http.request.method": "POST", "http.route": "/v1/contacts", "http.response.status_code": "504", "error.type": "504"}}},
		{"contacts_create", true, []map[string]string{{"mailhelm.operation": "contacts_create", "mailhelm.surface": "rest", "mailhelm.outcome": "upstream_unavailable", "error.type": "upstream_unavailable"}}},
	} {
		s := c.one(t, tc.span)
		want := map[string]string{}
		for _, part := range tc.want {
			maps.Copy(want, part)
		}
		if got := texts(s.Attributes); !maps.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", tc.span, got, want)
		}
		if failed := s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR; failed != tc.failed || s.Status.GetMessage() != "" || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s: status %v", tc.span, s.Status)
		}
	}
	if c.resource["service.name"] != "mailhelm" || c.resource["service.version"] != "test" {
		t.Errorf("the resource is %v", c.resource)
	}
	for _, secret := range []string{"eve", "example.com", "made", "Bearer", p.Live.APIKey} {
		if strings.Contains(c.raw.String(), secret) {
			t.Errorf("the spans hold %q", secret)
		}
	}
}

func placeOf(t *testing.T, address string) map[string]string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"server.address": u.Hostname(), "server.port": u.Port(), "network.protocol.version": "1.1"}
}

func messageOf(method, id string) map[string]string {
	all := map[string]string{"mcp.method.name": method, "mcp.protocol.version": legacy}
	if id != "" {
		all["jsonrpc.request.id"] = id
	}
	return all
}

// TestNoCollector checks a product whose collector refuses all spans. Calls must succeed,
// and the product must stop in time.
func TestNoCollector(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	p := product.Start(t, product.Options{OTLPEndpoint: c.url + "/nowhere"})
	if got := ask(t, p.HTTP, toAgent(p, p.Token(t, p.MCPURL), toolCall("1", "lists_list", `{}`, ""))); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}
