package load

import (
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// eachRefused calls f with calls of an organization whose rate limit is used up. A server refuses
// many such calls for each one that it admits, so they must cost little, and no statement.
func eachRefused(b *testing.B, p *product.Product, f func(op operation, to *connection, request func(i int) []byte)) {
	b.Helper()
	if _, err := p.SQL(b).ExecContext(b.Context(), `UPDATE orgs SET rate_limit = 1 WHERE id = $1`, p.Other.OrgID); err != nil {
		b.Fatal(err)
	}
	p.Clock.Advance(10 * time.Second) // servers read limits again after five
	lookup := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"` + p.Contact + `"}}}`
	token := p.TokenWith(b, p.Other.Live, p.MCPURL)
	for _, call := range []struct {
		name, address string
		request       []byte
	}{
		{"refused: contacts_lookup", p.BaseURL, message("GET", p.BaseURL+"/v1/contacts/"+p.Contact, "", "Authorization: Bearer "+p.Other.Live.APIKey)},
		{"refused: contacts_create", p.BaseURL, message("POST", p.BaseURL+"/v1/contacts", `{"email":"refused@example.com"}`, "Authorization: Bearer "+p.Other.Live.APIKey)},
		{
			"refused: tool contacts_lookup", p.MCPURL,
			message("POST", p.MCPURL+"/mcp", lookup, "Authorization: Bearer "+token, "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2025-11-25"),
		},
	} {
		to := connect(b, call.address)
		to.status = http.StatusTooManyRequests
		for range 2 { // the limit is one call
			_ = to.send(call.request)
		}
		f(operation{name: call.name}, to, func(int) []byte { return call.request })
	}
}
