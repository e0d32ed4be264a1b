package server

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// movement is one request, and the metric series that must increase by it. what describes
// the request in failure messages.
type movement struct {
	what    string
	request request
	series  string
}

// TestEachMetricMoves checks that each request increases the metric series that counts it.
// A refused request must also count as one refusal, and no other request may count as a
// refusal.
func TestEachMetricMoves(t *testing.T) {
	t.Parallel()
	limit := 60
	p := product.Start(t, product.Options{RateLimit: &limit})
	token := p.Token(t, p.MCPURL)
	for _, m := range append(countedCalls(p, token), countedRefusals(t, p, token)...) {
		before, _ := readMetrics(t, p.HTTP, p.AdminURL)
		got := ask(t, p.HTTP, m.request)
		after, _ := readMetrics(t, p.HTTP, p.AdminURL)
		if after[m.series] <= before[m.series] {
			t.Errorf("%s: %s stays %v; answered %d %.300s", m.what, m.series, before[m.series], got.status, got.body)
		}
		if refused := refusalCount(after) - refusalCount(before); refused != 0 != strings.HasPrefix(m.series, "mailhelm_refusals") || refused > 1 {
			t.Errorf("%s: counted as %v refusals", m.what, refused)
		}
	}
	refused := refusalSeries("", "agent", "rate_limited")
	for range limit + 1 {
		ask(t, p.HTTP, toAgent(p, token, lookupOf(p.Contact)))
	}
	after, text := readMetrics(t, p.HTTP, p.AdminURL)
	if after[refused] == 0 {
		t.Errorf("%s never moved", refused)
	}
	for _, secret := range []string{"made", "nobody@", "example.com", p.Contact, token} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics hold %q", secret)
		}
	}
}

func countedCalls(p *product.Product, token string) []movement {
	to := func(body string) request { return toAgent(p, token, body) }
	lookup := lookupOf(p.Contact)
	upsert := toolCall("1", "contacts_upsert", `{"email":"moves@example.com"}`, "")
	keyed := toolCall("1", "contacts_upsert", `{"email":"keyed@example.com"}`, metaWith(`"dev.service/idempotencyKey":"k"`))
	contact := request{method: http.MethodGet, url: p.BaseURL + "/v1/contacts", bearer: p.Live.APIKey}
	return []movement{
		{"a call", to(lookup), `mailhelm_calls_total{operation="contacts_lookup",outcome="ok",surface="agent"}`},
		{"its time", to(lookup), `mailhelm_call_seconds_count{operation="contacts_lookup",surface="agent"}`},
		{"its bytes", to(lookup), `mailhelm_result_bytes_sum{operation="contacts_lookup",surface="agent"}`},
		{"a call over REST", contact, `mailhelm_calls_total{operation="contacts_list",outcome="ok",surface="rest"}`},
		{"its bytes", contact, `mailhelm_result_bytes_count{operation="contacts_list",surface="rest"}`},
		{"a first write", to(upsert), `mailhelm_calls_total{operation="contacts_upsert",outcome="ok",surface="agent"}`},
		{"its replay", to(upsert), `mailhelm_replays_total{key="derived",operation="contacts_upsert",surface="agent"}`},
		{"a write with a key", to(keyed), `mailhelm_calls_total{operation="contacts_upsert",outcome="ok",surface="agent"}`},
		{"its replay", to(keyed), `mailhelm_replays_total{key="explicit",operation="contacts_upsert",surface="agent"}`},
	}
}

func countedRefusals(t *testing.T, p *product.Product, token string) []movement {
	t.Helper()
	narrow := p.Token(t, p.MCPURL, "api.account.view")
	to := func(body string) request { return toAgent(p, token, body) }
	with := func(a request, name, value string) request {
		a.header = map[string]string{"MCP-Protocol-Version": legacy, name: value}
		return a
	}
	lookup := lookupOf(p.Contact)
	contacts := p.BaseURL + "/v1/contacts"
	return []movement{
		{"a contact that does not exist", to(toolCall("1", "contacts_lookup", `{"email":"nobody@example.com"}`, "")), refusalSeries("contacts_lookup", "agent", "not_found")},
		{"arguments that do not fit", to(toolCall("1", "contacts_upsert", `{"nothing":1}`, "")), refusalSeries("contacts_upsert", "agent", "validation_failed")},
		{"a key that is none", to(toolCall("1", "contacts_upsert", `{}`, metaWith(`"dev.service/idempotencyKey":7`))), refusalSeries("contacts_upsert", "agent", "validation_failed")},
		{"a missing scope", toAgent(p, narrow, lookup), refusalSeries("contacts_lookup", "agent", "invalid_scope")},
		{"no token", toAgent(p, "", lookup), refusalSeries("", "agent", "invalid_key")},
		{"an API key", toAgent(p, p.Live.APIKey, lookup), refusalSeries("", "agent", "wrong_host")},
		{"a tool that does not exist", to(toolCall("1", "made_up", `{}`, "")), refusalSeries("", "agent", "unknown_tool")},
		{"a method that does not exist", to(`{"jsonrpc":"2.0","id":1,"method":"made/up"}`), refusalSeries("", "agent", "unknown_method")},
		{"a resource that does not exist", to(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"made:up"}}`), refusalSeries("", "agent", "unknown_resource")},
		{"no JSON", to(`{"jsonrpc`), refusalSeries("", "agent", "invalid_json")},
		{"no request", to(`{"jsonrpc":"1.0","id":1,"method":"ping"}`), refusalSeries("", "agent", "invalid_request")},
		{"a batch", to(`[]`), refusalSeries("", "agent", "invalid_body")},
		{"a cursor", to(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`), refusalSeries("", "agent", "invalid_params")},
		{"an unknown revision", with(to(lookup), "MCP-Protocol-Version", "1999-01-01"), refusalSeries("", "agent", "unsupported_revision")},
		{"headers that lie", with(to(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+modern+`"}}}`), "Mcp-Method", "x"), refusalSeries("", "agent", "header_mismatch")},
		{"a page of elsewhere", with(to(lookup), "Origin", "https://elsewhere.example"), refusalSeries("", "agent", "foreign_origin")},
		{"text for JSON", with(to(lookup), "Content-Type", "text/plain"), refusalSeries("", "agent", "media_type")},
		{"a body too large", to(`"` + strings.Repeat("x", 1<<20) + `"`), refusalSeries("", "agent", "body_too_large")},
		{"the wrong verb", request{method: http.MethodDelete, url: p.MCPURL + "/mcp"}, refusalSeries("", "agent", "method_not_allowed")},
		{"a path that does not exist", request{method: http.MethodGet, url: p.MCPURL + "/made/up"}, refusalSeries("", "agent", "not_found")},
		{"no credential over REST", request{method: http.MethodGet, url: contacts}, refusalSeries("contacts_list", "rest", "invalid_key")},
		{"a token for agents over REST", request{method: http.MethodGet, url: contacts, bearer: token}, refusalSeries("contacts_list", "rest", "invalid_key")},
		{"a path that does not exist over REST", request{method: http.MethodGet, url: p.BaseURL + "/v1/made/up"}, refusalSeries("", "rest", "not_found")},
		{"a body that is no JSON over REST", request{method: http.MethodPost, url: contacts, bearer: p.Live.APIKey, body: "{"}, refusalSeries("contacts_create", "rest", "validation_failed")},
	}
}

func lookupOf(email string) string {
	return toolCall("1", "contacts_lookup", `{"email":"`+email+`"}`, "")
}

func refusalSeries(operation, surface, cause string) string {
	return `mailhelm_refusals_total{cause="` + cause + `",operation="` + operation + `",surface="` + surface + `"}`
}

func refusalCount(samples map[string]float64) float64 {
	all := 0.0
	for series, value := range samples {
		if strings.HasPrefix(series, "mailhelm_refusals_total") {
			all += value
		}
	}
	return all
}

// readMetrics reads the page /metrics of the admin listener, whose URL is in admin. It
// returns the values by the name of the series with its labels, and the text of the page.
func readMetrics(t *testing.T, client *http.Client, admin string) (map[string]float64, string) {
	t.Helper()
	text := ask(t, client, request{url: admin + "/metrics"}).body
	samples := map[string]float64{}
	for line := range strings.Lines(text) {
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		samples[line[:at]] = value
	}
	return samples, text
}
