package tools_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzPrehandler sends any body to the endpoint. Every answer must be a valid answer of the
// endpoint without internal details, and nothing may panic.
func FuzzPrehandler(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_upsert","arguments":{"email":"ann@example.com"},"_meta":{"dev.service/idempotencyKey":"k"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"broadcasts_send","arguments":{"broadcast_id":"b","confirmation_token":"x.y"}}}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 10_000) + `1` + strings.Repeat(`}`, 10_000) + `}`,
		strings.Repeat(`[`, 10_000),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"a\u0000@b.cc"}}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\x00\"}",
		`{"JSONRPC":"2.0","Id":1,"METHOD":"ping"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1e999,"method":"ping","params":{"a":1e999999999}}`,
		`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"broadcasts_send","inputResponses":{"confirm":{"action":"accept"}},"requestState":"s"}}`,
		`null`, `""`, ``, "\xff", "\ufeff{}",
	} {
		f.Add(seed, "2025-11-25")
		f.Add(seed, "2026-07-28")
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, body, revision string) {
		if strings.Contains(body, "set_list_membership") || strings.Contains(body, `\u`) && strings.Contains(body, "et_list_") {
			return // this tool waits until its client disconnects
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel() // without an answer within ten seconds the test fails below
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header["Authorization"] = []string{"Bearer live"}
		r.Header["Content-Type"] = []string{"application/json"}
		r.Header["Mcp-Protocol-Version"] = []string{revision}
		r.Header["Mcp-Method"] = []string{"tools/call"}
		r.Header["Mcp-Name"] = []string{"contacts_upsert"}
		answer := handle(w, r)
		holdAnswer(t, body, answer.Code, answer.Header().Get("Content-Type"), answer.Body.String())
	})
}

func holdAnswer(t *testing.T, sent string, status int, contentType, body string) {
	t.Helper()
	for _, inside := range []string{"goroutine", ".go:", "unmarshal", "mcp.", "jsonrpc2", "panic", "core."} {
		if strings.Contains(body, inside) && !strings.Contains(sent, inside) {
			t.Errorf("%q: the answer speaks of the inside: %s", sent, body)
		}
	}
	var object map[string]json.RawMessage
	switch {
	case status == http.StatusAccepted && body == "":
	case json.Unmarshal([]byte(body), &object) != nil:
		t.Errorf("%q: %d, and no JSON object: %q", sent, status, body)
	case contentType == "application/problem+json":
		if object["code"] == nil || object["request_id"] == nil {
			t.Errorf("%q: not a problem document: %s", sent, body)
		}
	case contentType == "application/json":
		if object["jsonrpc"] == nil || object["result"] == nil && object["error"] == nil {
			t.Errorf("%q: not a JSON-RPC response: %s", sent, body)
		}
	default:
		t.Errorf("%q: %d with Content-Type %q: %s", sent, status, contentType, body)
	}
}
