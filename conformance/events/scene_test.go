package events

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// scene is a running product, with an API key for the public API and an access token for
// the MCP endpoint.
type scene struct {
	p           *product.Product
	rest, agent string
}

func newScene(t *testing.T, p *product.Product) scene {
	t.Helper()
	return scene{p, p.Live.APIKey, p.Token(t, p.MCPURL)}
}

type object = map[string]any

// get reads a path of the public API and returns the JSON object. It fails the test unless
// the status is 200.
func (s scene) get(t *testing.T, path string) object {
	t.Helper()
	got := s.p.Send(t, product.Request{URL: s.p.BaseURL + path, Bearer: s.rest})
	return decoded(t, path, got)
}

// ask calls an MCP tool and returns its structured content. It fails the test if the tool
// fails.
func (s scene) ask(t *testing.T, tool, arguments string) object {
	t.Helper()
	got := s.p.Send(t, s.p.ToAgent(s.agent, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`))
	result, _ := decoded(t, tool, got)["result"].(object)
	content, _ := result["structuredContent"].(object)
	if content == nil || result["isError"] == true {
		t.Fatalf("%s%s: %s", tool, arguments, got.Body)
	}
	return content
}

func decoded(t *testing.T, what string, got product.Answer) object {
	t.Helper()
	var answer object
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil || got.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", what, got.Status, got.Body)
	}
	return answer
}

// find returns the item with the given id from a JSON array. It fails the test if there is
// none.
func find(t *testing.T, list any, id string) object {
	t.Helper()
	items, _ := list.([]any)
	for _, item := range items {
		if found, _ := item.(object); found["id"] == id {
			return found
		}
	}
	t.Fatalf("%s is not in the list %v", id, list)
	return nil
}
