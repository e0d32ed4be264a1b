package network

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// named returns a handler that answers every request with name, so that a test can see
// which handler ran.
func named(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(name)) }) //nolint:errcheck // a recorder
}

// ask returns the body of the answer to a GET request with the given Host header, or the
// text of a status other than 200.
func ask(h http.Handler, host string) string {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return http.StatusText(w.Code)
	}
	return w.Body.String()
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	alone := Dispatch([]Site{{Service: config.APIService, Origin: "https://api.example.com", Handler: named("api")}}, "")
	if got := ask(alone, "10.0.0.1:8080"); got != "api" {
		t.Errorf("a site with a listener of its own: got %s for an address without name", got)
	}
	two := Dispatch([]Site{
		{Service: config.APIService, Origin: "https://api.example.com", Handler: named("api")},
		{Service: config.MCPService, Origin: "http://localhost:8082", Handler: named("mcp")},
	}, "https://docs.example.com")
	for host, want := range map[string]string{
		"api.example.com": "api", "api.example.com:443": "api", "API.EXAMPLE.COM": "api",
		"localhost:8082": "mcp", "localhost": "Misdirected Request", "localhost:8080": "Misdirected Request",
		"api.example.com.evil.org": "Misdirected Request", "": "Misdirected Request",
	} {
		if got := ask(two, host); got != want {
			t.Errorf("host %q: got %s, want %s", host, got, want)
		}
	}
}
