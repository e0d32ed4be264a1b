package tools_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkCall compares a tool call to the endpoint with a call to a server that uses only
// the MCP SDK, both without a network:
//
//	go test ./tools -run NONE -bench Call -benchmem
func BenchmarkCall(b *testing.B) {
	bare := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	bare.AddTool(&mcp.Tool{Name: "contacts_lookup", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "found"}}}, nil
		})
	handlers := map[string]http.Handler{
		"mailhelm": newWorld(b).server.Handler(),
		"bare SDK": mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return bare },
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}),
	}
	for name, handler := range handlers {
		for _, revision := range []string{modern, legacy} {
			b.Run(name+"/"+revision, func(b *testing.B) {
				b.ReportAllocs()
				a := call(revision, "contacts_lookup", map[string]any{"email": "ann@example.com"})
				for b.Loop() {
					answer := httptest.NewRecorder()
					handler.ServeHTTP(answer, benchRequest(a))
					if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"content"`) {
						b.Fatalf("%d %s", answer.Code, answer.Body)
					}
				}
			})
		}
	}
}

func benchRequest(a ask) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(a.body))
	r.Header.Set("Authorization", "Bearer live")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", a.revision)
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	return r
}
