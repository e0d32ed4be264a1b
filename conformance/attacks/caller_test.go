package attacks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// reply is an HTTP response whose body was read completely.
type reply struct {
	status int
	header http.Header
	body   string
	took   time.Duration
}

// caller sends requests to one product with one credential.
type caller struct {
	*product.Product
	credential string
}

// rest sends a request to the public API. headers alternates names and values.
func (c caller) rest(t testing.TB, method, path, body string, headers ...string) reply {
	t.Helper()
	return c.send(t, method, c.BaseURL+path, body, headers...)
}

// tool calls an MCP tool. arguments is sent as it is, even if it is not valid JSON.
func (c caller) tool(t testing.TB, name, arguments string, headers ...string) reply {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
	return c.send(t, http.MethodPost, c.MCPURL+"/mcp", body, headers...)
}

func (c caller) send(t testing.TB, method, address, body string, headers ...string) reply {
	t.Helper()
	began := time.Now()
	got := c.Send(t, product.Request{Method: method, URL: address, Bearer: c.credential, Body: body, Header: product.HeaderOf(headers...)})
	return reply{got.Status, got.Header, got.Body, time.Since(began)}
}

// want fails the test if the reply does not have the given status. It returns the reply, so
// that calls can be chained.
func (r reply) want(t testing.TB, status int) reply {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d: %.300s", r.status, status, r.body)
	}
	return r
}

// failed reports whether the tool result in the reply is an error. It also returns the
// problem document of the result.
func (r reply) failed(t testing.TB) (bool, problem) {
	t.Helper()
	var rpc struct {
		Result struct {
			IsError           bool    `json:"isError"`
			StructuredContent problem `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(r.body), &rpc); err != nil {
		t.Fatalf("status %d, no JSON: %.300s", r.status, r.body)
	}
	return rpc.Result.IsError, rpc.Result.StructuredContent
}

// problem has those members of an API error (a problem document, RFC 9457) that the tests
// check.
type problem struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Errors []struct {
		Field  string `json:"field"`
		Reason string `json:"reason"`
	} `json:"errors"`
}

func (r reply) problem(t testing.TB) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		t.Fatalf("status %d, no problem document: %.300s", r.status, r.body)
	}
	return p
}
