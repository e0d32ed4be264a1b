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

// BenchmarkMCPLookup compares the product's tool contacts_lookup with three minimal
// servers. Two use the libraries go-sdk and mcp-go, and have one tool with a constant
// answer. The third only decodes JSON-RPC and returns the params of the request as its
// result. The product also checks the access token and the rate limit, reads consent from
// the sending account, validates schemas and counts metrics.
func BenchmarkMCPLookup(b *testing.B) {
	p := product.Start(b, product.Options{})
	token := p.Token(b, p.MCPURL, "api.contacts.view")
	bare := bareSDK(b, func() func(*http.Request) *mcp.Server {
		server := newBareServer(1)
		return func(*http.Request) *mcp.Server { return server }
	}())
	other, echo := bareMCPGo(b), bareEcho(b)
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		b.Run(revision, func(b *testing.B) {
			compare(b,
				target{"mailhelm", lookup(revision, p.MCPURL+"/mcp", "contacts_lookup", p.Contact, token)},
				target{"go-sdk", lookup(revision, bare, "tool_0", p.Contact, "")},
				target{"mcp-go", lookup(revision, other, "tool_0", p.Contact, "")},
				target{"echo", lookup(revision, echo, "tool_0", p.Contact, "")},
			)
		})
	}
}

// BenchmarkMCPBuiltPerRequest compares the product's tool contacts_lookup with a go-sdk
// server that builds 30 tools for each request. A simple server would do that, so that each
// caller sees only the tools that its scopes allow.
func BenchmarkMCPBuiltPerRequest(b *testing.B) {
	p := product.Start(b, product.Options{})
	token := p.Token(b, p.MCPURL, "api.contacts.view")
	built := bareSDK(b, func(*http.Request) *mcp.Server { return newBareServer(catalogueSize) })
	const revision = "2025-11-25"
	compare(b,
		target{"mailhelm", lookup(revision, p.MCPURL+"/mcp", "contacts_lookup", p.Contact, token)},
		target{"built", lookup(revision, built, "tool_0", p.Contact, "")},
	)
}

// catalogueSize is the number of tools of the server in the comparison, as many as were
// planned for the product.
const catalogueSize = 30

// lookup returns a function that makes tool calls with an email address as the argument, in
// the format of the given MCP revision. If token is "", the request has no Authorization
// header.
func lookup(revision, address, tool, email, token string) func() (*http.Request, error) {
	modern := revision == "2026-07-28"
	meta := ""
	if modern {
		meta = `,"_meta":{"` + mcp.MetaKeyProtocolVersion + `":"` + revision + `","` + mcp.MetaKeyClientCapabilities + `":{}}`
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"email":"` + email + `"}` + meta + `}}`
	return func() (*http.Request, error) {
		r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", revision)
		if modern {
			r.Header.Set("Mcp-Method", "tools/call")
			r.Header.Set("Mcp-Name", tool)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return r, nil
	}
}

func bareSDK(b *testing.B, server func(*http.Request) *mcp.Server) string {
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

func newBareOut(email string) bareOut {
	return bareOut{ID: "1", Email: email, Attributes: map[string]any{"plan": "pro"}}
}

// newBareServer returns a go-sdk server with n tools. If n is 1, the tool has a constant
// schema and parses its own arguments. Otherwise the SDK derives the schemas from Go types,
// as in its examples.
func newBareServer(n int) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	for i := range n {
		tool := &mcp.Tool{Name: "tool_" + strconv.Itoa(i), Description: "Looks a contact up."}
		if n == 1 {
			s.AddTool(withSchema(tool), rawLookup)
			continue
		}
		mcp.AddTool(s, tool, func(_ context.Context, _ *mcp.CallToolRequest, in bareIn) (*mcp.CallToolResult, bareOut, error) {
			return nil, newBareOut(in.Email), nil
		})
	}
	return s
}

// withSchema sets the tool's input schema to constant JSON, so that the SDK does not derive
// a schema from a Go type.
func withSchema(t *mcp.Tool) *mcp.Tool {
	t.InputSchema = json.RawMessage(bareSchema)
	return t
}

const bareSchema = `{"type":"object","properties":{"email":{"type":"string"}},"required":["email"]}`

func rawLookup(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in bareIn
	if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Found " + in.Email}}, StructuredContent: newBareOut(in.Email)}, nil
}
