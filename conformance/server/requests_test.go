package server

import (
	"maps"
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// The two revisions of MCP that the requests name.
const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// request is an HTTP request to send with the function ask.
type request struct {
	method string // "" means GET
	url    string
	bearer string // the credential in the header Authorization; "" means no such header
	body   string
	// header has further headers. They replace those that ask sets.
	header map[string]string
}

// answer is the response to a request, or the error if there is none.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
	// content is the JSON of a REST body, or of a tool's structured content. isError is
	// true if a tool returned an error. Only the calls of faultScene set these two.
	content map[string]any
	isError bool
}

// ask sends a request and returns the answer. A body is sent as JSON. It ends the test if
// there is no answer.
func ask(t *testing.T, client *http.Client, sent request) answer {
	t.Helper()
	header := map[string]string{"Accept": "application/json, text/event-stream"}
	maps.Copy(header, sent.header)
	got := product.Send(t, client, product.Request{Method: sent.method, URL: sent.url, Bearer: sent.bearer, Body: sent.body, Header: header})
	return answer{status: got.Status, header: got.Header, body: got.Body}
}

// get sends a GET request with a bearer credential, or without one if bearer is "".
func get(t *testing.T, p *product.Product, url, bearer string) answer {
	t.Helper()
	return ask(t, p.HTTP, request{url: url, bearer: bearer})
}

// do sends a request and returns the answer, with the error if there is none. It does not
// fail the test, so any goroutine may call it.
func do(client *http.Client, r *http.Request) answer {
	got, err := product.Do(client, r)
	return answer{status: got.Status, header: got.Header, body: got.Body, err: err}
}

// toAgent returns a request that posts a JSON-RPC message to the agent endpoint, with MCP
// revision 2025-11-25.
func toAgent(p *product.Product, token, message string) request {
	return request{http.MethodPost, p.MCPURL + "/mcp", token, message, map[string]string{"MCP-Protocol-Version": legacy}}
}

// toolCall returns the JSON-RPC message of a tool call. id and arguments are JSON. more is
// JSON text with further members of the call's params; it begins with a comma.
func toolCall(id, name, arguments, more string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + more + `}}`
}

// metaWith returns the JSON member _meta with the given members, preceded by a comma. For
// "" it returns "".
func metaWith(members string) string {
	if members == "" {
		return ""
	}
	return `,"_meta":{` + members + `}`
}

// metaWithKey returns the JSON member _meta with the idempotency key of a tool call,
// preceded by a comma. For an empty key it returns "".
func metaWithKey(key string) string {
	if key == "" {
		return ""
	}
	return metaWith(`"dev.service/idempotencyKey":"` + key + `"`)
}
