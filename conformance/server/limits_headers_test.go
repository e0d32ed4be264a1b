package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
)

// limited returns a product with the given rate limit and a stopped clock, so that the
// numbers in rate-limit headers are exact.
func limited(t *testing.T, limit int) *product.Product {
	t.Helper()
	p := product.Start(t, product.Options{RateLimit: &limit})
	p.Clock.Freeze(p.Clock.Now())
	return p
}

// post sends a JSON-RPC message to the agent endpoint. The entries of header replace the
// default headers of the same name.
func post(t *testing.T, p *product.Product, bearer, body string, header map[string]string) answer {
	t.Helper()
	all := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	for name, value := range header {
		all[name] = value
	}
	return ask(t, p.HTTP, request{http.MethodPost, p.MCPURL + "/mcp", bearer, body, all})
}

// TestEveryAnswerOfTheAgentEndpointTellsTheLimit checks that every request to the MCP
// endpoint with a valid token counts as one call, even if it fails. The headers of each
// answer must have the number of calls left.
func TestEveryAnswerOfTheAgentEndpointTellsTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 60
	p := limited(t, limit)
	token := p.Token(t, p.MCPURL, "api.contacts.view")
	sent := []struct {
		what, body string
		header     map[string]string
		status     int
	}{
		{"a result", toolCall("1", "contacts_lookup", `{"email":"`+p.Contact+`"}`, ""), nil, 200},
		{"a tool that fails", toolCall("1", "contacts_lookup", `{"email":"nobody@example.com"}`, ""), nil, 200},
		{"the list of tools", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, 200},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202},
		{"a tool that does not exist", toolCall("1", "made_up", `{}`, ""), nil, 200},
		{"a method that does not exist", `{"jsonrpc":"2.0","id":1,"method":"made/up"}`, nil, 200},
		{"a missing scope", toolCall("1", "lists_list", `{}`, ""), nil, 403},
		{"a batch", batch, nil, 400},
		{"an empty batch", `[]`, nil, 400},
		{"no JSON", `{"jsonrpc`, nil, 400},
		{"no body", ``, nil, 400},
		{"an unknown revision", ping, map[string]string{"MCP-Protocol-Version": "1999-01-01"}, 400},
		{"text for JSON", ping, map[string]string{"Content-Type": "text/plain"}, 415},
		{"nothing that can be answered", ping, map[string]string{"Accept": "text/html"}, 406},
		{"a body too large", `"` + strings.Repeat("x", 1<<20) + `"`, nil, 413},
	}
	for i, s := range sent {
		t.Log(s.what)
		post(t, p, token, s.body, s.header).wantRate(t, s.status, limit, limit-i-1)
	}
	for range limit - len(sent) {
		post(t, p, token, ping, nil)
	}
	for _, s := range sent {
		t.Log(s.what, "without a call left")
		post(t, p, token, s.body, s.header).wantRate(t, 429, limit, 0)
	}
}

// TestEachClientHasABucket checks rate limits of an organization with several OAuth
// clients. At the agent endpoint each client has its own bucket. At the public API all live
// credentials of the organization share one bucket.
func TestEachClientHasABucket(t *testing.T) {
	t.Parallel()
	p := limited(t, 25)
	second := anotherClient(t, p)
	for _, step := range []struct {
		client           product.Credentials
		limit, remaining int
	}{{p.Live, 25, 24}, {p.Live, 25, 23}, {second, 25, 24}, {p.Test, 2, 1}, {second, 25, 23}, {p.Live, 25, 22}} {
		post(t, p, p.TokenWith(t, step.client, p.MCPURL), ping, nil).wantRate(t, 200, step.limit, step.remaining)
	}
	askScopes(t, p, p.TokenWith(t, second, p.BaseURL)).wantRate(t, 200, 25, 24)
	askScopes(t, p, p.Token(t, p.BaseURL)).wantRate(t, 200, 25, 23)
}

// anotherClient creates a second live OAuth client of the demo organization.
func anotherClient(t *testing.T, p *product.Product) product.Credentials {
	t.Helper()
	secret := access.MintClientSecret()
	client := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: p.OrgID, Name: "Second agent",
		Environment: core.Live, SecretHash: secret.Hash, Scopes: core.AllScopes(), CreatedAt: p.Clock.Now(),
	}
	if err := p.DB.Clients().InsertClient(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	return product.Credentials{ClientID: client.ClientID, ClientSecret: secret.Secret}
}

// TestRefusalsBeforeATokenIsReadCostNothing checks requests that the server refuses before
// it knows the caller, such as requests without a valid credential. The requests must not
// count toward a rate limit, and their answers must have no rate-limit headers.
func TestRefusalsBeforeATokenIsReadCostNothing(t *testing.T) {
	t.Parallel()
	p := limited(t, 4)
	token := p.Token(t, p.MCPURL)
	for what, a := range map[string]answer{
		"a page of elsewhere": post(t, p, token, ping, map[string]string{"Origin": "https://elsewhere.example"}),
		"elsewhere, no path":  ask(t, p.HTTP, request{http.MethodPost, p.MCPURL + "/none", token, ping, map[string]string{"Origin": "https://elsewhere.example"}}),
		"the wrong verb":      get(t, p, p.MCPURL+"/mcp", ""),
		"a path of nobody":    get(t, p, p.BaseURL+"/v1/none", "nobody"),
		"a path, no token":    get(t, p, p.BaseURL+"/v1/none", ""),
		"a path, no header":   get(t, p, p.MCPURL+"/none", "nobody"),
		"no token":            post(t, p, "", ping, nil),
		"a token of nobody":   post(t, p, "nobody", ping, nil),
		"an API key":          post(t, p, p.Live.APIKey, ping, nil),
	} {
		for name := range a.header {
			if a.status < 400 || strings.Contains(name, "Ratelimit") || name == "Retry-After" {
				t.Errorf("%s: %d with %s", what, a.status, name)
			}
		}
	}
	post(t, p, token, ping, nil).wantRate(t, 200, 4, 3)
}

// TestUnservedRequestsTellTheLimit checks requests with a valid credential for an unknown
// path or method, at the public API and the agent endpoint. Each must count as one call,
// and must get 429 if no call is left.
func TestUnservedRequestsTellTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 8
	p := limited(t, limit)
	for host, bearers := range map[string][]string{
		p.BaseURL: {p.Live.APIKey, p.Token(t, p.BaseURL)},
		p.MCPURL:  {p.Token(t, p.MCPURL)},
	} {
		unserved := []struct {
			method, path string
			status       int
		}{
			{"GET", "/v1/none", 404},
			{"POST", "/none", 404},
			{"GET", "/", 404},
			{"OPTIONS", "/v2", 404},
			{"DELETE", bearer.ProtectedResourcePath, 405},
			{"PUT", bearer.ProtectedResourcePath, 405},
		}
		if host == p.MCPURL {
			unserved = append(unserved, unserved[0], unserved[0])
			unserved[6].method, unserved[6].path, unserved[6].status = "GET", "/mcp", 405
			unserved[7].method, unserved[7].path, unserved[7].status = "DELETE", "/mcp", 405
		} else {
			unserved = append(unserved, unserved[4], unserved[4])
			unserved[6].path, unserved[7].path = "/v1/_scopes", "/v1/contacts"
		}
		for i, u := range unserved {
			t.Log(host, u)
			ask(t, p.HTTP, request{method: u.method, url: host + u.path, bearer: bearers[i%len(bearers)]}).wantRate(t, u.status, limit, limit-i-1)
		}
		for i, u := range unserved {
			t.Log(host, u, "without a call left")
			ask(t, p.HTTP, request{method: u.method, url: host + u.path, bearer: bearers[i%len(bearers)]}).wantRate(t, 429, limit, 0)
		}
	}
}

// TestRetryAfterIsWhenTheNextCallPasses checks the headers of a refused call. After the
// seconds in Retry-After a call must succeed, and one second earlier it must be refused.
// RateLimit-Reset must be the seconds until the bucket is full again.
func TestRetryAfterIsWhenTheNextCallPasses(t *testing.T) {
	t.Parallel()
	const limit = 4
	p := limited(t, limit)
	for resource, next := range map[string]func() answer{
		p.MCPURL:  pinger(t, p),
		p.BaseURL: func() answer { return askScopes(t, p, p.Live.APIKey) },
	} {
		wantRefused := func(retry, reset string) {
			t.Helper()
			if a := next(); a.status != 429 || a.header.Get("Retry-After") != retry || a.header.Get("RateLimit-Reset") != reset {
				t.Errorf("%s: %d, Retry-After %s, reset %s, want %s and %s", resource, a.status, a.header.Get("Retry-After"), a.header.Get("RateLimit-Reset"), retry, reset)
			}
		}
		for i := range limit {
			next().wantRate(t, 200, limit, limit-i-1)
			p.Clock.Advance(7 * time.Second)
		}
		wantRefused("32", "53")
		p.Clock.Advance(31 * time.Second)
		wantRefused("1", "22")
		p.Clock.Advance(time.Second)
		next().wantRate(t, 200, limit, 0)
		wantRefused("7", "60")
		p.Clock.Advance(time.Minute)
		next().wantRate(t, 200, limit, limit-1)
		p.Clock.Advance(time.Minute)
	}
}

// pinger returns a function that sends a ping to the agent endpoint. All pings have the
// same access token.
func pinger(t *testing.T, p *product.Product) func() answer {
	t.Helper()
	token := p.Token(t, p.MCPURL)
	return func() answer { return post(t, p, token, ping, nil) }
}
