package login_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/oauth/proxies"
)

// knownProxies returns the trusted proxies of the tests: 10.0.0.0/8.
func knownProxies(t *testing.T) proxies.Trusted {
	t.Helper()
	known, err := proxies.Parse([]string{"10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// attempt tries to sign in and returns the status. The email address depends on i, so that
// only the limit of the client's network applies.
func (h *house) attempt(i int, peer, forwarded string) int {
	form := url.Values{"email": {fmt.Sprintf("p%d@example.org", i)}, "password": {"x"}}
	r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Forwarded-For", forwarded)
	r.RemoteAddr = peer
	w := httptest.NewRecorder()
	h.routes["/login"].ServeHTTP(w, r)
	return w.Code
}

// TestClientsBehindAProxy checks that the limit of sign-in attempts applies to each client
// address behind a trusted proxy. Forged headers must not give a client a new limit.
func TestClientsBehindAProxy(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	const proxy = "10.0.0.1:1234"
	last := 0
	for i := range 31 {
		last = h.attempt(i, proxy, fmt.Sprintf("198.51.100.%d, 203.0.113.9", i))
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("attempt 31 of one client with a made-up header: %d", last)
	}
	if got := h.attempt(31, proxy, "203.0.113.10"); got != http.StatusUnauthorized {
		t.Errorf("another client behind the proxy: %d", got)
	}
	if got := h.attempt(32, "203.0.113.9:80", ""); got != http.StatusTooManyRequests {
		t.Errorf("the client without the proxy: %d", got)
	}
	if got := h.attempt(33, "203.0.113.9:80", "203.0.113.77"); got != http.StatusTooManyRequests {
		t.Errorf("the client as its own proxy: %d", got)
	}
}
