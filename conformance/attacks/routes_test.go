package attacks_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// raw sends the text as it is, as an HTTP request, to the host in the URL address. If the
// server disconnects without an answer, the status in the reply is 0.
func raw(t *testing.T, address, text string) reply {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the answer was read
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return reply{} // the server disconnected before it received the whole text
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return reply{}
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Errorf("%.60q: the answer broke off: %v", text, err)
	}
	return reply{status: answer.StatusCode, header: answer.Header}
}

func (c caller) hosts() map[string]string {
	return map[string]string{"api": c.BaseURL, "auth": c.AuthURL, "agents": c.MCPURL, "fetch": c.FetchURL, "admin": c.AdminURL}
}

func TestStrangeRequestLinesFailNothing(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	c := caller{p, p.Live.APIKey}
	lines := []string{
		"GET http://x HTTP/1.1", "GET http://user:pass@evil.example/v1/lists HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT x:80 HTTP/1.1",
		"GET * HTTP/1.1", "PRI * HTTP/2.0", "TRACE / HTTP/1.1", "GET /" + strings.Repeat("/", 60000) + " HTTP/1.1",
		"GET /" + strings.Repeat("v1/", 20000) + " HTTP/1.1", "GET /v1/contacts/" + strings.Repeat("%2F", 20000) + " HTTP/1.1",
		"GET //evil.example/docs HTTP/1.1", "GET /\\evil.example HTTP/1.1", "GET /docs//evil.example/ HTTP/1.1",
		"GET /docs/%2e%2e/%2e%2e/etc/passwd HTTP/1.1", "GET /v1/contacts/%00 HTTP/1.1", "GET /v1/contacts/%zz HTTP/1.1",
		"GET /v1/contacts/%ff@example.com HTTP/1.1", "GET /v1/lists?" + strings.Repeat("a&", 20000) + " HTTP/1.1",
		"GET /v1/lists?limit=%31%30;x=1 HTTP/1.1", "DELETE /v1/contacts/%0d%0aX-Injected:%201 HTTP/1.1", "B\x01D / HTTP/1.1",
	}
	for name, address := range c.hosts() {
		for _, line := range lines {
			answer := raw(t, address, line+"\r\nHost: x\r\nAuthorization: Bearer "+c.credential+"\r\nConnection: close\r\n\r\n")
			if answer.status == 0 || answer.status >= 500 && answer.status != http.StatusNotImplemented && answer.status != http.StatusHTTPVersionNotSupported {
				t.Errorf("%s: %.50q: %d", name, line, answer.status)
				continue
			}
			if answer.header.Get("X-Injected") != "" {
				t.Errorf("%s: %.50q writes a header", name, line)
			}
			checkLocation(t, line, answer.header.Get("Location"))
		}
	}
}

// checkLocation fails the test if a Location header points to another host. line is the
// request line that was answered with it.
func checkLocation(t *testing.T, line, location string) {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil || u.Host != "" && u.Hostname() != "localhost" || strings.HasPrefix(location, "//") || strings.HasPrefix(location, `/\`) {
		t.Errorf("%.50q redirects to %q", line, location)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	for name, address := range (caller{Product: p}).hosts() {
		flood := "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 200) + "\r\n"
		if answer := raw(t, address, flood); answer.status != 0 && answer.status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s takes 200 KB of headers: %d", name, answer.status)
		}
	}
}
