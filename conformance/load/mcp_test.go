package load

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkMCPLookup compares contacts_lookup of the whole product (token, rails,
// consent asked of the account, schemas) with two bare go-sdk servers: one whose
// only tool is shared and answers a constant, and one that builds its tools for
// each request, which is what a server does that filters them by scope naively.
func BenchmarkMCPLookup(b *testing.B) {
	p := product.Start(b, product.Options{})
	token := p.Token(b, p.MCPURL, "api.contacts.view")
	shared := bareMCP(b, func() func(*http.Request) *mcp.Server {
		server := newBareServer(1)
		return func(*http.Request) *mcp.Server { return server }
	}())
	perRequest := bareMCP(b, func(*http.Request) *mcp.Server { return newBareServer(catalogueSize) })
	compare(b,
		target{"mailhelm", lookup(p.MCPURL+"/mcp", "contacts_lookup", p.Contact, token)},
		target{"bare-sdk", lookup(shared, "tool_0", p.Contact, "")},
		target{"sdk-built-per-request", lookup(perRequest, "tool_0", p.Contact, "")},
	)
}

// catalogueSize is how many tools the product's catalogue is specified to have.
const catalogueSize = 30

func lookup(address, tool, email, token string) func() (*http.Request, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"email":"` + email + `"}}}`
	return func() (*http.Request, error) {
		r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", "2025-06-18")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return r, nil
	}
}

func bareMCP(b *testing.B, server func(*http.Request) *mcp.Server) string {
	b.Helper()
	handler := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	s := httptest.NewServer(handler)
	b.Cleanup(s.Close)
	return s.URL
}

type bareIn struct {
	Email string `json:"email" jsonschema:"address of the contact"`
}

type bareOut struct {
	ID         string         `json:"id"`
	Email      string         `json:"email"`
	Attributes map[string]any `json:"attributes"`
}

// newBareServer has n typed tools, the way the SDK's own examples write them.
func newBareServer(n int) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	for i := range n {
		tool := &mcp.Tool{Name: "tool_" + strconv.Itoa(i), Description: "Looks a contact up."}
		if n == 1 {
			s.AddTool(withSchema(tool), rawLookup)
			continue
		}
		mcp.AddTool(s, tool, func(_ context.Context, _ *mcp.CallToolRequest, in bareIn) (*mcp.CallToolResult, bareOut, error) {
			return nil, bareOut{ID: "1", Email: in.Email, Attributes: map[string]any{"plan": "pro"}}, nil
		})
	}
	return s
}

// withSchema gives the fast server a schema that is already text.
func withSchema(t *mcp.Tool) *mcp.Tool {
	t.InputSchema = json.RawMessage(`{"type":"object","properties":{"email":{"type":"string"}},"required":["email"]}`)
	return t
}

func rawLookup(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in bareIn
	if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
		return nil, err
	}
	out := bareOut{ID: "1", Email: in.Email, Attributes: map[string]any{"plan": "pro"}}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Found " + in.Email}}, StructuredContent: out}, nil
}
