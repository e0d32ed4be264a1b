package whole

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/tools"
)

// answer is the response to a call, as text and as a JSON object.
type answer struct {
	status int
	header http.Header
	body   string
	object map[string]any // nil if the body is empty
}

// subject is one operation on one surface: a tool or a route.
type subject struct {
	core.OperationInfo
	surface core.Surface
	input   *core.Schema
	route   rest.Route // only if surface is [core.REST]
}

// name returns the name of the tool, or the method and path of the route, for messages of
// tests.
func (s subject) name() string {
	if s.surface == core.Agent {
		return "tool " + s.Name
	}
	return s.route.Method + " " + s.route.Path
}

// subjects returns all tools and routes of the product, always in the same order. They are
// created once, because declaring an operation compiles its schemas.
var subjects = sync.OnceValue(func() []subject {
	var all []subject
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		if slices.Contains(tools.Table(), info.Name) {
			all = append(all, subject{OperationInfo: info, surface: core.Agent, input: op.Input(core.Agent)})
		}
		for _, route := range rest.Routes() {
			if route.Operation == info.Name {
				all = append(all, subject{OperationInfo: info, surface: core.REST, input: op.Input(core.REST), route: route})
			}
		}
	}
	return all
})

// caller calls the product with an access token for the agent endpoint (agent) and a
// credential for the REST API (rest).
type caller struct {
	p           *product.Product
	agent, rest string
}

func callerOf(t *testing.T, p *product.Product, c product.Credentials) caller {
	t.Helper()
	return caller{p, p.TokenWith(t, c, p.MCPURL), c.APIKey}
}

// call calls a tool or a route. For a route, it puts the arguments in the path, the query
// or the body.
func (c caller) call(t *testing.T, s subject, arguments map[string]any) answer {
	t.Helper()
	if s.surface == core.Agent {
		return c.callTool(t, s.Name, arguments)
	}
	path, query, body := s.route.Path, url.Values{}, map[string]any{}
	for name, value := range arguments {
		text, isText := value.(string)
		switch {
		case strings.Contains(path, "{"+name+"}"):
			path = strings.ReplaceAll(path, "{"+name+"}", strings.ReplaceAll(url.PathEscape(text), "@", "%40"))
		case s.route.TakesBody():
			body[name] = value
		case isText:
			query.Set(name, text)
		default:
			query.Set(name, string(encoded(t, value)))
		}
	}
	address := c.p.BaseURL + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	if !s.route.TakesBody() {
		return send(t, c.p, s.route.Method, address, c.rest, "")
	}
	// the route takes a JSON array as its body, not an object
	if items, ok := body[s.route.Items]; ok && s.route.Items != "" {
		return send(t, c.p, s.route.Method, address, c.rest, string(encoded(t, items)))
	}
	return send(t, c.p, s.route.Method, address, c.rest, string(encoded(t, body)))
}

func (c caller) callTool(t *testing.T, name string, arguments any) answer {
	t.Helper()
	return c.rpc(t, "tools/call", map[string]any{"name": name, "arguments": arguments})
}

func (c caller) rpc(t *testing.T, method string, params any) answer {
	t.Helper()
	message := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	return send(t, c.p, http.MethodPost, c.p.MCPURL+"/mcp", c.agent, string(encoded(t, message)))
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func send(t *testing.T, p *product.Product, method, address, bearer, body string) answer {
	t.Helper()
	r := product.Request{Method: method, URL: address, Bearer: bearer, Body: body}
	if address == p.MCPURL+"/mcp" {
		r = p.ToAgent(bearer, body)
	}
	got := p.Send(t, r)
	a := answer{status: got.Status, header: got.Header, body: got.Body}
	if got.Body != "" {
		if err := json.Unmarshal([]byte(got.Body), &a.object); err != nil {
			t.Fatalf("%s %s: %d, and no JSON object: %s", method, address, a.status, got.Body)
		}
	}
	return a
}

// result returns the result of a tool call, or nil if there is none.
func (a answer) result() map[string]any {
	result, _ := a.object["result"].(map[string]any)
	return result
}

// output returns what the operation returned: the structured content of a tool's result, or
// the body of a REST response.
func (a answer) output() map[string]any {
	if result := a.result(); result != nil {
		structured, _ := result["structuredContent"].(map[string]any)
		return structured
	}
	return a.object
}

// outcome returns the status and the code in the answer's problem document. For an answer
// without a problem document, status is the HTTP status.
func (a answer) outcome() (status int, code string) {
	code, _ = a.output()["code"].(string)
	if of, isProblem := a.output()["status"].(float64); isProblem && code != "" {
		return int(of), code
	}
	return a.status, code
}
