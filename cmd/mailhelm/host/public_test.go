package host

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPublicAddressesAreChecked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		public Public
		says   string // "" means it is fine
	}{
		"none":               {Public{}, ""},
		"origins":            {Public{API: "https://api.example.com", MCP: "http://localhost:8082", Docs: "https://example.com/help/docs"}, ""},
		"documentation host": {Public{App: "https://app.example.com", Docs: "https://docs.example.com"}, ""},
		"slash at the end":   {Public{Auth: "https://auth.example.com/"}, "--auth-url"},
		"path":               {Public{MCP: "https://example.com/mcp"}, "--mcp-url"},
		"no scheme":          {Public{API: "api.example.com"}, "--base-url"},
		"another scheme":     {Public{API: "ftp://api.example.com"}, "--base-url"},
		"no host":            {Public{API: "https://"}, "--base-url"},
		"only a port":        {Public{API: "http://:8080"}, "--base-url"},
		"user":               {Public{App: "https://u:p@app.example.com"}, "--app-url"},
		"query":              {Public{Fetch: "https://fetch.example.com?x=1"}, "--fetch-url"},
		"fragment":           {Public{Fetch: "https://fetch.example.com#x"}, "--fetch-url"},
		"upper case":         {Public{API: "https://API.example.com"}, "lower case"},
		"no URL":             {Public{API: "https://%zz"}, "--base-url"},
		"one for both":       {Public{API: "https://x.example.com", MCP: "https://x.example.com"}, "--mcp-url"},
		"docs at the root":   {Public{App: "https://app.example.com", Docs: "https://app.example.com"}, "--docs-url"},
		"docs with a query":  {Public{Docs: "https://app.example.com/docs?x"}, "--docs-url"},
	} {
		err := tc.public.check()
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want it to say %q", name, err, tc.says)
		}
	}
}

func TestMissingAddressesFollowFromTheListeners(t *testing.T) {
	t.Parallel()
	got := Public{MCP: "https://mcp.example.com"}.complete(Listen{API: ":80", App: "127.0.0.1:8081", Fetch: "[::1]:9"})
	want := Public{
		API: "http://localhost:80", Auth: "http://localhost:8081", App: "http://localhost:8081",
		MCP: "https://mcp.example.com", Fetch: "http://localhost:9", Docs: "http://localhost:8081/docs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// named answers with its name.
func named(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(name)) }) //nolint:errcheck // a recorder
}

func ask(h http.Handler, host, path string) string {
	r := httptest.NewRequest(http.MethodGet, path, nil)
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
	alone := dispatch([]site{{apiService, "https://api.example.com", named("api")}}, "")
	if got := ask(alone, "10.0.0.1:8080", "/"); got != "api" {
		t.Errorf("a site with a listener of its own: got %s for an address without name", got)
	}
	two := dispatch([]site{
		{apiService, "https://api.example.com", named("api")},
		{mcpService, "http://localhost:8082", named("mcp")},
	}, "https://docs.example.com")
	for host, want := range map[string]string{
		"api.example.com": "api", "api.example.com:443": "api", "API.EXAMPLE.COM": "api",
		"localhost:8082": "mcp", "localhost": "Misdirected Request", "localhost:8080": "Misdirected Request",
		"api.example.com.evil.org": "Misdirected Request", "": "Misdirected Request",
	} {
		if got := ask(two, host, "/"); got != want {
			t.Errorf("host %q: got %s, want %s", host, got, want)
		}
	}
}

func TestAppSites(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		public Public
		want   map[string]string // by host and path
	}{
		"one origin": {
			Public{Auth: "https://a.test", App: "https://a.test", Docs: "https://a.test/docs"},
			map[string]string{"a.test/docs": "docs", "a.test/docs/x": "docs", "a.test/docsx": "auth", "a.test/oauth/token": "auth", "a.test/": "Found"},
		},
		"app apart": {
			Public{Auth: "https://auth.test", App: "https://app.test", Docs: "https://app.test/help/docs"},
			map[string]string{"app.test/help/docs": "docs", "app.test/docs": "Not Found", "app.test/oauth/token": "Not Found", "auth.test/docs": "auth", "app.test/": "Found"},
		},
		"documentation apart": {
			Public{Auth: "https://a.test", App: "https://a.test", Docs: "https://docs.test"},
			map[string]string{"docs.test/": "docs", "docs.test/api": "docs", "a.test/docs": "auth"},
		},
	} {
		h := dispatch(appSites(tc.public, named("auth"), named("docs")), tc.public.Docs)
		for address, want := range tc.want {
			host, path, _ := strings.Cut(address, "/")
			if got := ask(h, host, "/"+path); got != want {
				t.Errorf("%s: %s: got %s, want %s", name, address, got, want)
			}
		}
	}
}

func TestPortsByRole(t *testing.T) {
	t.Parallel()
	cfg := Config{Role: Worker, Listen: PortRow(7000)}
	if got := cfg.Ports(); len(got) != 1 || got[0].Flag() != "--admin-addr" {
		t.Errorf("a worker listens on %v", got)
	}
	cfg.Role = API
	if got := cfg.Ports(); len(got) != 6 || got[4].Addr != "127.0.0.1:7004" {
		t.Errorf("an API process listens on %v", got)
	}
}

func TestAdminAndSMTPDoNotShare(t *testing.T) {
	t.Parallel()
	for _, service := range []string{smtpService, adminService} {
		cfg := config(t)
		l := running(t, cfg)
		stop(t, l)
		cfg.Listen.API = l.cfg.Listen.API
		if service == smtpService {
			cfg.Listen.SMTP = cfg.Listen.API
		} else {
			cfg.Listen.Admin = cfg.Listen.API
		}
		if h, err := Start(t.Context(), cfg); err == nil {
			stop(t, h)
			t.Errorf("%s shares the API's address", service)
		} else if !strings.Contains(err.Error(), "--"+service+"-addr") {
			t.Errorf("%s: %v", service, err)
		}
	}
}
