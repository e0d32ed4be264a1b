package load

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
)

// bareMCPGo starts a minimal server of the library mcp-go, without sessions. Its one tool
// has a constant schema. It returns the URL of the MCP endpoint.
func bareMCPGo(b *testing.B) string {
	b.Helper()
	server := mcpgoserver.NewMCPServer("bare", "1")
	server.AddTool(mcpgo.NewToolWithRawSchema("tool_0", "Looks a contact up.", json.RawMessage(bareSchema)),
		func(_ context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			email := r.GetString("email", "")
			return mcpgo.NewToolResultStructured(newBareOut(email), "Found "+email), nil
		})
	handler := mcpgoserver.NewStreamableHTTPServer(server, mcpgoserver.WithStateLess(true))
	s := httptest.NewServer(handler)
	b.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// bareEcho starts a server that answers each JSON-RPC request with the request's params as
// the result. It returns the URL. The server shows what HTTP and JSON cost without MCP.
func bareEcho(b *testing.B) string {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": request.Params})
	}))
	b.Cleanup(s.Close)
	return s.URL
}
