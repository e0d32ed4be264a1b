package product

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Request is an HTTP request to a running product.
type Request struct {
	Method string // "" means GET
	URL    string
	Bearer string // the credential in the header Authorization; "" means no such header
	Body   string // sent with the content type of JSON; "" sends no body
	// Header has further headers, by name. They replace those that Send sets.
	Header map[string]string
}

// Answer is the response to a request, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// ToAgent returns a request that posts a JSON-RPC message to the agent endpoint, with MCP
// revision 2025-11-25.
func (p *Product) ToAgent(token, message string) Request {
	return Request{
		Method: http.MethodPost, URL: p.MCPURL + "/mcp", Bearer: token, Body: message,
		Header: map[string]string{"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"},
	}
}

// HeaderOf returns headers from pairs of name and value.
func HeaderOf(pairs ...string) map[string]string {
	header := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		header[pairs[i]] = pairs[i+1]
	}
	return header
}

// Send sends a request with the client of the product and returns the answer. It ends the
// test if there is none.
func (p *Product) Send(t testing.TB, sent Request) Answer {
	t.Helper()
	return Send(t, p.HTTP, sent)
}

// Send sends a request with a client and returns the answer. It ends the test if there is
// none.
func Send(t testing.TB, client *http.Client, sent Request) Answer {
	t.Helper()
	var body io.Reader
	if sent.Body != "" {
		body = strings.NewReader(sent.Body)
	}
	r, err := http.NewRequestWithContext(t.Context(), sent.Method, sent.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	if sent.Bearer != "" {
		r.Header.Set("Authorization", "Bearer "+sent.Bearer)
	}
	if sent.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range sent.Header {
		r.Header.Set(name, value)
	}
	answer, err := Do(client, r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	return answer
}

// Do sends a request with a client and returns the answer. Any goroutine may call it,
// because it does not end a test.
func Do(client *http.Client, r *http.Request) (Answer, error) {
	response, err := client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, string(body)}, err
}
