package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/network"
)

// named returns a handler that answers every request with name, so that a test can see
// which handler ran.
func named(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(name)) }) //nolint:errcheck // a recorder
}

// ask returns the body of the answer to a GET request, the address of a redirect, or the text
// of another status.
func ask(h http.Handler, host, path string) string {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code == http.StatusFound {
		return w.Header().Get("Location")
	}
	if w.Code != http.StatusOK {
		return http.StatusText(w.Code)
	}
	return w.Body.String()
}

func TestAppSites(t *testing.T) {
	t.Parallel()
	people := map[string]http.Handler{"/login": named("people"), "/": named("front"), "/d/": named("below")}
	for name, tc := range map[string]struct {
		public config.Public
		want   map[string]string // by host and path
	}{
		"one origin": {
			config.Public{Auth: "https://a.test", App: "https://a.test", Docs: "https://a.test/docs"},
			map[string]string{"a.test/docs": "docs", "a.test/docs/x": "docs", "a.test/docsx": "auth", "a.test/oauth/token": "auth", "a.test/login": "people", "a.test/login/": "auth", "a.test/": "front", "a.test/d/x": "below", "a.test/llms.txt": "/docs/llms.txt", "a.test/llms-full.txt": "/docs/llms-full.txt", "a.test/llms": "auth"},
		},
		"app apart": {
			config.Public{Auth: "https://auth.test", App: "https://app.test", Docs: "https://app.test/help/docs"},
			map[string]string{"app.test/help/docs": "docs", "app.test/docs": "Not Found", "app.test/oauth/token": "Not Found", "app.test/login": "people", "auth.test/login": "auth", "auth.test/docs": "auth", "app.test/": "front", "app.test/x": "Not Found", "app.test/llms.txt": "/help/docs/llms.txt", "auth.test/llms.txt": "auth"},
		},
		"documentation apart": {
			config.Public{Auth: "https://a.test", App: "https://a.test", Docs: "https://docs.test"},
			map[string]string{"docs.test/": "docs", "docs.test/api": "docs", "a.test/docs": "auth", "a.test/llms.txt": "https://docs.test/llms.txt"},
		},
	} {
		h := network.Dispatch(appSites(tc.public, named("auth"), named("docs"), people), tc.public.Docs)
		for address, want := range tc.want {
			host, path, _ := strings.Cut(address, "/")
			if got := ask(h, host, "/"+path); got != want {
				t.Errorf("%s: %s: got %s, want %s", name, address, got, want)
			}
		}
	}
}
