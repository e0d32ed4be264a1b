package observability_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// movement is one request, and the metric series that must increase by it. what describes
// the request in failure messages.
type movement struct {
	what   string
	ask    asking
	series string
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
		before, _ := metrics(t, p.HTTP, p.AdminURL)
		status, body := ask(t, p, m.ask)
		after, _ := metrics(t, p.HTTP, p.AdminURL)
		if after[m.series] <= before[m.series] {
			t.Errorf("%s: %s stays %v; answered %d %.300s", m.what, m.series, before[m.series], status, body)
		}
		if refused := refusals(after) - refusals(before); refused != 0 != strings.HasPrefix(m.series, "mailhelm_refusals") || refused > 1 {
			t.Errorf("%s: counted as %v refusals", m.what, refused)
		}
	}
	refused := refusal("", "agent", "rate_limited")
	for range limit + 1 {
		ask(t, p, agent(p, token, lookupOf(p.Contact)))
	}
	after, text := metrics(t, p.HTTP, p.AdminURL)
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
	to := func(body string) asking { return agent(p, token, body) }
	lookup := lookupOf(p.Contact)
	upsert := tool("1", "contacts_upsert", `{"email":"moves@example.com"}`, "")
	keyed := tool("1", "contacts_upsert", `{"email":"keyed@example.com"}`, `"dev.service/idempotencyKey":"k"`)
	contact := asking{method: http.MethodGet, url: p.BaseURL + "/v1/contacts", token: p.Live.APIKey}
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
	to := func(body string) asking { return agent(p, token, body) }
	with := func(a asking, name, value string) asking {
		a.header = map[string]string{"MCP-Protocol-Version": legacy, name: value}
		return a
	}
	lookup := lookupOf(p.Contact)
	contacts := p.BaseURL + "/v1/contacts"
	return []movement{
		{"a contact that does not exist", to(tool("1", "contacts_lookup", `{"email":"nobody@example.com"}`, "")), refusal("contacts_lookup", "agent", "not_found")},
		{"arguments that do not fit", to(tool("1", "contacts_upsert", `{"nothing":1}`, "")), refusal("contacts_upsert", "agent", "validation_failed")},
		{"a key that is none", to(tool("1", "contacts_upsert", `{}`, `"dev.service/idempotencyKey":7`)), refusal("contacts_upsert", "agent", "validation_failed")},
		{"a missing scope", agent(p, narrow, lookup), refusal("contacts_lookup", "agent", "invalid_scope")},
		{"no token", agent(p, "", lookup), refusal("", "agent", "invalid_key")},
		{"an API key", agent(p, p.Live.APIKey, lookup), refusal("", "agent", "wrong_host")},
		{"a tool that does not exist", to(tool("1", "made_up", `{}`, "")), refusal("", "agent", "unknown_tool")},
		{"a method that does not exist", to(`{"jsonrpc":"2.0","id":1,"method":"made/up"}`), refusal("", "agent", "unknown_method")},
		{"a resource that does not exist", to(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"made:up"}}`), refusal("", "agent", "unknown_resource")},
		{"no JSON", to(`{"jsonrpc`), refusal("", "agent", "invalid_json")},
		{"no request", to(`{"jsonrpc":"1.0","id":1,"method":"ping"}`), refusal("", "agent", "invalid_request")},
		{"a batch", to(`[]`), refusal("", "agent", "invalid_body")},
		{"a cursor", to(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`), refusal("", "agent", "invalid_params")},
		{"an unknown revision", with(to(lookup), "MCP-Protocol-Version", "1999-01-01"), refusal("", "agent", "unsupported_revision")},
		{"headers that lie", with(to(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+modern+`"}}}`), "Mcp-Method", "x"), refusal("", "agent", "header_mismatch")},
		{"a page of elsewhere", with(to(lookup), "Origin", "https://elsewhere.example"), refusal("", "agent", "foreign_origin")},
		{"text for JSON", with(to(lookup), "Content-Type", "text/plain"), refusal("", "agent", "media_type")},
		{"a body too large", to(`"` + strings.Repeat("x", 1<<20) + `"`), refusal("", "agent", "body_too_large")},
		{"the wrong verb", asking{method: http.MethodDelete, url: p.MCPURL + "/mcp"}, refusal("", "agent", "method_not_allowed")},
		{"a path that does not exist", asking{method: http.MethodGet, url: p.MCPURL + "/made/up"}, refusal("", "agent", "not_found")},
		{"no credential over REST", asking{method: http.MethodGet, url: contacts}, refusal("contacts_list", "rest", "invalid_key")},
		{"a token for agents over REST", asking{method: http.MethodGet, url: contacts, token: token}, refusal("contacts_list", "rest", "invalid_key")},
		{"a path that does not exist over REST", asking{method: http.MethodGet, url: p.BaseURL + "/v1/made/up"}, refusal("", "rest", "not_found")},
		{"a body that is no JSON over REST", asking{method: http.MethodPost, url: contacts, token: p.Live.APIKey, body: "{"}, refusal("contacts_create", "rest", "validation_failed")},
	}
}

func lookupOf(email string) string {
	return tool("1", "contacts_lookup", `{"email":"`+email+`"}`, "")
}

func refusal(operation, surface, cause string) string {
	return `mailhelm_refusals_total{cause="` + cause + `",operation="` + operation + `",surface="` + surface + `"}`
}

func refusals(samples map[string]float64) float64 {
	all := 0.0
	for series, value := range samples {
		if strings.HasPrefix(series, "mailhelm_refusals_total") {
			all += value
		}
	}
	return all
}
