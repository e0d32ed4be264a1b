package tools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// FuzzRequest sends whole HTTP requests to the endpoint: line, headers and body. Every
// answer must be a valid answer of the endpoint, without line breaks in headers, and not an
// internal error.
func FuzzRequest(f *testing.F) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"ann@example.com"}}}`
	const current = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	const headers = "Authorization: Bearer live\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	for _, seed := range []string{
		"POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "MCP-Protocol-Version: 2025-11-25\r\n\r\n" + call,
		"POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n\r\n" + current,
		"POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: =?base64?eA==?=\r\n\r\n" + call,
		"POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "Mcp-Session-Id: x\r\nLast-Event-ID: 1\r\n\r\n" + `[` + call + `]`,
		"POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "Origin: null\r\n\r\n" + call,
		"POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "X-Request-Id: a\tb\r\nTraceparent: 00-0-0-0\r\n\r\n" + call,
		"POST /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer sk_live_x\r\nAuthorization: Bearer live\r\n\r\n" + call,
		"POST /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Basic bGl2ZQ==\r\n\r\n{}",
		"POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "Content-Encoding: gzip\r\n\r\n\x1f\x8b",
		"POST /mcp HTTP/1.1\r\nHost: a\r\n" + headers + "Content-Type: application/json; charset=utf-16\r\n\r\n\xfe\xff",
		"GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n", "DELETE /mcp HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS /mcp HTTP/1.1\r\nHost: a\r\nOrigin: https://inspector.test\r\nAccess-Control-Request-Method: POST\r\n\r\n",
		"GET /mcp/_health HTTP/1.1\r\nHost: a\r\n\r\n", "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /mcp/../mcp?x=%00 HTTP/1.0\r\n\r\n", "POST //mcp HTTP/1.1\r\nHost: \r\n\r\n{}",
	} {
		f.Add(seed)
	}
	probes := newProbes()
	// The tools that panic or wait are left out; other tests cover them.
	w := newWorldOf(f, []core.Operation{probes.lookup(), probes.upsert(), probes.archive(), probes.send()})
	f.Fuzz(func(t *testing.T, wire string) {
		head, body, _ := strings.Cut(wire, "\r\n\r\n")
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head + "\r\n\r\n")))
		if err != nil || strings.Contains(head, "Bearer panic") {
			// not tested: an invalid request line or header, which net/http refuses, and
			// the token "panic", for which the verifier panics
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		sent, err := http.NewRequestWithContext(ctx, r.Method, "http://a/", strings.NewReader(body))
		if err != nil {
			return
		}
		sent.URL, sent.Header, sent.Host = r.URL, r.Header, r.Host
		answer := handle(w, sent)
		if answer.Code >= http.StatusInternalServerError {
			t.Errorf("%q: %d %s", wire, answer.Code, answer.Body)
		}
		for name, values := range answer.Header() {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
				t.Errorf("%q: header %s is %q", wire, name, values)
			}
		}
		mediaType, text := answer.Header().Get("Content-Type"), answer.Body.String()
		if text != "" && !json.Valid([]byte(text)) {
			t.Errorf("%q: %d, and no JSON: %q", wire, answer.Code, text)
		}
		if mediaType == "application/problem+json" || strings.HasPrefix(text, `{"jsonrpc"`) {
			holdAnswer(t, wire, answer.Code, mediaType, text)
		}
	})
}
