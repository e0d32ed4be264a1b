package parity

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// request is an HTTP request to send with the function ask.
type request struct {
	method string // "" means GET
	url    string
	bearer string // the credential in the header Authorization; "" means no such header
	body   string
	header map[string]string // further headers
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request and returns the answer. A request to the agent endpoint gets the
// headers that it requires.
func ask(t *testing.T, p *product.Product, sent request) answer {
	t.Helper()
	r := product.Request{Method: sent.method, URL: sent.url, Bearer: sent.bearer, Body: sent.body, Header: sent.header}
	if sent.url == p.MCPURL+"/mcp" && sent.header == nil {
		r = p.ToAgent(sent.bearer, sent.body)
	}
	got := p.Send(t, r)
	return answer{got.Status, got.Header, got.Body}
}

// get sends a GET request to a path of the public API.
func get(t *testing.T, p *product.Product, token, path string) answer {
	t.Helper()
	return ask(t, p, request{url: p.BaseURL + path, bearer: token})
}

// send sends a request with a token. It returns the JSON object in the body of the answer,
// an empty one if there is no body, and the status.
func send(t *testing.T, p *product.Product, method, address, token, body string) (map[string]any, int) {
	t.Helper()
	got := ask(t, p, request{method: method, url: address, bearer: token, body: body})
	object := map[string]any{}
	if got.body != "" {
		if err := json.Unmarshal([]byte(got.body), &object); err != nil {
			t.Fatalf("%d %s: %v", got.status, got.body, err)
		}
	}
	return object, got.status
}
