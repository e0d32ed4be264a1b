package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// reply is an HTTP answer of the endpoint. Code is set for a problem document, Result for a
// JSON-RPC result.
type reply struct {
	status int
	header http.Header
	body   string
	Code   string         `json:"code"`
	Result map[string]any `json:"result"`
}

// post posts a body to the agent endpoint. token is the Authorization header. With revision
// "" it sends no protocol version header.
func post(t *testing.T, p *product.Product, token, revision, body string) reply {
	t.Helper()
	return ask(t, p, http.MethodPost, "/mcp", token, revision, body)
}

func ask(t *testing.T, p *product.Product, verb, path, token, revision, body string) reply {
	t.Helper()
	header := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	for name, value := range map[string]string{"Authorization": token, "MCP-Protocol-Version": revision} {
		if value != "" {
			header[name] = value
		}
	}
	sent := p.Send(t, product.Request{Method: verb, URL: p.MCPURL + path, Body: body, Header: header})
	got := reply{status: sent.Status, header: sent.Header, body: sent.Body}
	if sent.Body != "" {
		if err := json.Unmarshal([]byte(sent.Body), &got); err != nil {
			t.Fatalf("%v: %s", err, sent.Body)
		}
	}
	return got
}

// tool returns a tool call as JSON in the format of the revisions before 2026-07-28. With
// key "" it has no idempotency key.
func tool(name, arguments, key string) string {
	meta := ""
	if key != "" {
		meta = fmt.Sprintf(`,"_meta":{"dev.service/idempotencyKey":%q}`, key)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, name, arguments, meta)
}

// structured returns the structured content of a tool's result or tool error. It fails the
// test if there is none.
func (r reply) structured(t *testing.T) map[string]any {
	t.Helper()
	value, ok := r.Result["structuredContent"].(map[string]any)
	if !ok {
		t.Fatalf("no result: %d %s", r.status, r.body)
	}
	return value
}

func (r reply) replayed() bool {
	meta, _ := r.Result["_meta"].(map[string]any)
	return meta[replayed] == true
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// TestEveryRefusalCostsAToken checks that every request uses up one request of the client's
// rate limit, even if it is refused. The answer has the number of requests that are left.
// JSON-RPC batches are refused at every protocol revision.
func TestEveryRefusalCostsAToken(t *testing.T) {
	t.Parallel()
	limit := 12
	p := product.Start(t, product.Options{RateLimit: &limit})
	p.Clock.Freeze(p.Clock.Now())
	token := "Bearer " + p.Token(t, p.MCPURL)
	// another access token of the same client; both tokens share the client's limit
	narrow := "Bearer " + p.Token(t, p.MCPURL, "api.account.view")
	type asked struct {
		token, revision, body string
		status                int
	}
	batch := "[" + ping + "," + ping + "]"
	calls := []asked{{token, "", batch, 400}, {token, "", "[]", 400}}
	for _, revision := range revisions {
		calls = append(calls, asked{token, revision, batch, 400})
	}
	calls = append(calls,
		asked{token, "2025-11-25", ping, 200},
		asked{token, "2025-11-25", `{"jsonrpc"`, 400},
		asked{token, "1999-12-31", ping, 400},
		asked{narrow, "2025-11-25", tool("lists_list", "{}", ""), 403},
		asked{token, "2025-11-25", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202},
		asked{token, "2025-11-25", ping, 429},
		asked{token, "2025-11-25", batch, 429},
	)
	for i, c := range calls {
		got := post(t, p, c.token, c.revision, c.body)
		remaining := strconv.Itoa(max(0, limit-i-1))
		if got.status != c.status || got.header.Get("RateLimit-Remaining") != remaining || got.header.Get("X-RateLimit-Limit") != "12" {
			t.Errorf("%s at %s: %d with %v, want %d with %s left", c.body, c.revision, got.status, got.header, c.status, remaining)
		}
		if c.body == batch && c.status == 400 && got.Code != "validation_failed" {
			t.Errorf("batch at %q: %s", c.revision, got.body)
		}
		if c.status == 429 && (got.Code != "rate_limited" || got.header.Get("Retry-After") != got.header.Get("RateLimit-Reset")) {
			t.Errorf("over the limit: %v %s", got.header, got.body)
		}
	}
	test := post(t, p, "Bearer "+p.TokenWith(t, p.Test, p.MCPURL), "2025-11-25", ping)
	if test.status != 200 || test.header.Get("RateLimit-Limit") != "1" {
		t.Errorf("a test client: %d %v, want a tenth of the limit and at least one", test.status, test.header)
	}
}

// TestStrangersLearnWhereToGetAToken checks that a request without a valid token gets a
// challenge that names the protected-resource document and the scopes of all tools. The
// health page shows nothing about the server but its commit, status and time.
func TestStrangersLearnWhereToGetAToken(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	document := p.MCPURL + "/.well-known/oauth-protected-resource"
	rest := `scope="` + product.ToolScopes().Join() + `", resource_metadata="` + document + `"`
	for name, c := range map[string]struct{ authorization, challenge string }{
		"nothing":      {"", `Bearer realm="Mailhelm agent endpoint", ` + rest},
		"an API token": {"Bearer " + p.Token(t, p.BaseURL), `Bearer realm="Mailhelm agent endpoint", error="invalid_token", ` + rest},
	} {
		got := post(t, p, c.authorization, "2025-11-25", ping)
		if got.status != 401 || got.Code != "invalid_key" || got.header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: %d %q %s", name, got.status, got.header.Get("WWW-Authenticate"), got.body)
		}
	}
	for name, key := range map[string]string{"live": p.Live.APIKey, "test": p.Test.APIKey, "of nobody": "sk_live_x"} {
		if got := post(t, p, "Bearer "+key, "2025-11-25", ping); got.status != 400 || got.Code != "wrong_host" {
			t.Errorf("API key, %s: %d %s", name, got.status, got.body)
		}
	}
	var described struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	found := ask(t, p, http.MethodGet, strings.TrimPrefix(document, p.MCPURL), "", "", "")
	if err := json.Unmarshal([]byte(found.body), &described); err != nil || described.Resource != p.MCPURL || !slices.Equal(described.Servers, []string{p.AuthURL}) {
		t.Errorf("%v: %s", err, found.body)
	}
	health := map[string]any{}
	if err := json.Unmarshal([]byte(ask(t, p, http.MethodGet, "/mcp/_health", "", "", "").body), &health); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(health)); !slices.Equal(got, []string{"commit", "status", "time"}) || health["commit"] != "unknown" {
		t.Errorf("health: %v", health)
	}
	for _, verb := range []string{http.MethodGet, http.MethodDelete} {
		if got := ask(t, p, verb, "/mcp", "Bearer "+p.Token(t, p.MCPURL), "2025-11-25", ""); got.status != 405 || got.header.Get("Allow") != "POST" || got.Code != "method_not_allowed" {
			t.Errorf("%s: %d %v %s", verb, got.status, got.header, got.body)
		}
	}
}
