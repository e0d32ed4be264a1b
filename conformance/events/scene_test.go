package events

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
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
	status, body := s.send(t, http.MethodGet, s.p.BaseURL+path, "", "Authorization", "Bearer "+s.rest)
	return decoded(t, path, status, body)
}

// ask calls an MCP tool and returns its structured content. It fails the test if the tool
// fails.
func (s scene) ask(t *testing.T, tool, arguments string) object {
	t.Helper()
	status, body := s.send(t, http.MethodPost, s.p.MCPURL+"/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`,
		"Authorization", "Bearer "+s.agent, "Content-Type", "application/json", "Accept", "application/json, text/event-stream",
		"MCP-Protocol-Version", "2025-11-25")
	result, _ := decoded(t, tool, status, body)["result"].(object)
	content, _ := result["structuredContent"].(object)
	if content == nil || result["isError"] == true {
		t.Fatalf("%s%s: %s", tool, arguments, body)
	}
	return content
}

func decoded(t *testing.T, what string, status int, body string) object {
	t.Helper()
	var answer object
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", what, status, body)
	}
	return answer
}

func (s scene) send(t *testing.T, method, address, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
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
