package observability_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// asking is one HTTP request to send with the function ask. The entries of header replace
// the default headers.
type asking struct {
	method, url, token, body string
	header                   map[string]string
}

func ask(t *testing.T, p *product.Product, a asking) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), a.method, a.url, strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if a.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	answer, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// agent returns a POST request that sends a JSON-RPC message to the agent endpoint, with MCP
// revision 2025-11-25.
func agent(p *product.Product, token, body string) asking {
	return asking{http.MethodPost, p.MCPURL + "/mcp", token, body, map[string]string{"MCP-Protocol-Version": legacy}}
}

// tool returns the JSON-RPC message of a tool call. id and arguments are JSON. meta has the
// members of _meta, without braces.
func tool(id, name, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`, id, name, arguments, meta)
}

// metrics reads the page /metrics of the admin listener, whose URL is in admin. It returns
// the values by the name of the series with its labels, and the text of the page.
func metrics(t *testing.T, client *http.Client, admin string) (map[string]float64, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, admin+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		samples[line[:at]] = value
	}
	return samples, string(text)
}
