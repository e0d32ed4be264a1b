package workflows

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// scene is a running product, with an API key for the public API and an access token for the
// agent endpoint.
type scene struct {
	p          *product.Product
	key, token string
}

// newScene returns a scene with the template thank-you.
func newScene(t *testing.T, p *product.Product) scene {
	t.Helper()
	s := scene{p, p.Live.APIKey, p.Token(t, p.MCPURL)}
	s.ask(t, "templates_author", object{"slug": "thank-you", "html": "<p>Thank you</p>"})
	return s
}

type object = map[string]any

// get reads a path of the public API. It fails the test unless the status is the given one.
func (s scene) get(t *testing.T, path string, status int) object {
	t.Helper()
	return s.send(t, http.MethodGet, path, "", status)
}

func (s scene) send(t *testing.T, method, path, body string, status int) object {
	t.Helper()
	got := s.p.Send(t, product.Request{Method: method, URL: s.p.BaseURL + path, Bearer: s.key, Body: body})
	var answer object
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil || got.Status != status {
		t.Fatalf("%s %s: %d %s, want %d", method, path, got.Status, got.Body, status)
	}
	return answer
}

// ask calls a tool and returns its structured content, which has a code if the tool refuses.
func (s scene) ask(t *testing.T, tool string, arguments object) object {
	t.Helper()
	text, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": tool, "arguments": arguments}})
	if err != nil {
		t.Fatal(err)
	}
	got := s.p.Send(t, s.p.ToAgent(s.token, string(text)))
	var answer struct {
		Result struct {
			Content object `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil || answer.Result.Content == nil {
		t.Fatalf("%s %v: %d %s", tool, arguments, got.Status, got.Body)
	}
	return answer.Result.Content
}

// confirmed calls a tool that asks for a confirmation, and confirms it. It returns the preview
// and the result.
func (s scene) confirmed(t *testing.T, tool string, arguments object) (preview, result object) {
	t.Helper()
	asked := s.ask(t, tool, arguments)
	token, _ := asked["confirmation_token"].(string)
	preview, _ = asked["preview"].(object)
	if token == "" || asked["confirmation_required"] != true {
		t.Fatalf("%s asks for no confirmation: %v", tool, asked)
	}
	again := maps.Clone(arguments)
	again["confirmation_token"] = token
	return preview, s.ask(t, tool, again)
}

// want checks members of an answer.
func want(t *testing.T, what string, got object, members object) {
	t.Helper()
	for name, value := range members {
		if fmt.Sprint(got[name]) != fmt.Sprint(value) {
			t.Errorf("%s: %s is %v, want %v, in %v", what, name, got[name], value, got)
		}
	}
}
