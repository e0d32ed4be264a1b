package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// asking is a page whose script sends cross-origin requests to the MCP endpoint. The page
// shows what the script could read of three answers: a valid call, a refused call, and the
// protected-resource metadata (RFC 9728).
const asking = `<!doctype html><html lang="en"><title>Asks</title><link rel="icon" href="data:,"><body><script>
const call = (token) => fetch(%[1]q + '/mcp', {
  method: 'POST',
  headers: {
    'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list', 'X-Request-Id': 'of-a-page',
    'traceparent': '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } }),
})
const attempt = (f) => f().catch((e) => e.name)
const line = (text) => { const p = document.createElement('p'); p.textContent = text; document.body.append(p) }
line(await attempt(async () => {
  const a = await call(%[2]q)
  return [a.status, a.headers.get('X-Request-Id'), (await a.json()).result.tools.length > 0].join(' ')
}))
line(await attempt(async () => {
  const a = await call('nonsense')
  return [a.status, a.headers.get('WWW-Authenticate').includes('resource_metadata'), (await a.json()).code].join(' ')
}))
line(await attempt(async () => {
  const a = await fetch(%[1]q + '/.well-known/oauth-protected-resource', { headers: { 'MCP-Protocol-Version': '2026-07-28' } })
  return [a.status, (await a.json()).resource].join(' ')
}))
line('done')
document.body.lastChild.id = 'done'
</script></html>`

// TestOnlyPagesOfAllowedOriginsCallTheEndpoint checks that a page of an allowed origin can
// read every answer of the MCP endpoint. A page of another origin can read only the
// protected-resource metadata (RFC 9728).
func TestOnlyPagesOfAllowedOriginsCallTheEndpoint(t *testing.T) {
	t.Parallel()
	var page string
	serve := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	})
	allowed, stranger := httptest.NewServer(serve), httptest.NewServer(serve)
	t.Cleanup(allowed.Close)
	t.Cleanup(stranger.Close)
	p := product.Start(t, product.Options{AllowedOrigins: []string{allowed.URL}})
	page = strings.ReplaceAll(fmt.Sprintf(asking, p.MCPURL, p.Token(t, p.MCPURL)), "<script>", `<script type="module">`)
	document := "200 " + p.MCPURL
	for name, c := range map[string]struct {
		address string
		read    [2]string
	}{
		"allowed":  {allowed.URL, [2]string{"200 of-a-page true", "401 true invalid_key"}},
		"stranger": {stranger.URL, [2]string{"TypeError", "TypeError"}},
	} {
		t.Run(name, func(t *testing.T) {
			tab := browser.Open(t, browser.Options{})
			tab.Go(c.address)
			tab.Await("#done")
			got := tab.ReadAll("p")
			if len(got) != 4 || got[0] != c.read[0] || got[1] != c.read[1] || got[2] != document {
				t.Errorf("the page read %q", got)
			}
			tab.Faults() // discards the browser's errors about refused requests, which are expected here
		})
	}
}
