package config

import (
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
		err := tc.public.Check()
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

func TestDocumentNetworksAreChecked(t *testing.T) {
	t.Parallel()
	for network, want := range map[string]string{
		"10.20.30.40/16": "10.20.0.0/16", "fd00::/8": "fd00::/8", "10.0.0.1": "", "intranet": "", "10.0.0.0/33": "", "": "",
	} {
		cfg := Config{DataDir: "x", Role: All, ClientDocumentNetworks: []string{network}}
		parsed, err := cfg.DocumentNetworks()
		if (err == nil) != (want != "") || err == nil && parsed[0].String() != want || (cfg.Check() == nil) != (err == nil) {
			t.Errorf("%q: %v, %v", network, parsed, err)
		}
	}
}

func TestAdminURL(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:9090": "http://localhost:9090", ":9090": "http://localhost:9090", "0.0.0.0:9090": "http://localhost:9090", "[::]:9090": "http://localhost:9090",
		"10.0.0.11:9090": "http://10.0.0.11:9090", "[fd00::1]:9090": "http://[fd00::1]:9090", "node1:9090": "http://node1:9090", "9090": "",
	} {
		if got := AdminURL(addr); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
}
