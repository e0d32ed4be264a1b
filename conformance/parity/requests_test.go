package parity

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
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

// ask sends a request and returns the answer. A body is sent as JSON, with the headers that
// the agent endpoint requires.
func ask(t *testing.T, p *product.Product, sent request) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), sent.method, sent.url, strings.NewReader(sent.body))
	if err != nil {
		t.Fatal(err)
	}
	if sent.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+sent.bearer)
	}
	if sent.body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	for name, value := range sent.header {
		r.Header.Set(name, value)
	}
	response, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
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
