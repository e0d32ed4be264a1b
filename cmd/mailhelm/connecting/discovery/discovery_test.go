package discovery_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/connectingtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/discovery"
)

func TestFindFromTheAddress(t *testing.T) {
	t.Parallel()
	s := connectingtest.Start(t)
	for name, address := range map[string]string{"endpoint": s.Address(), "root": s.URL, "slash": s.URL + "/"} {
		got, err := discovery.Find(t.Context(), address)
		if err != nil || got.Resource != s.URL || got.Metadata.TokenEndpoint != s.URL+"/token" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	got, err := discovery.Find(t.Context(), s.Address())
	if diff := cmp.Diff([]string{"api.lists.view"}, got.Scopes); diff != "" || err != nil {
		t.Errorf("scopes of the challenge: %s, %v", diff, err)
	}
}

func TestFindRefusesMetadataOfOthers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(map[string]any){
		"another resource":           func(d map[string]any) { replace(d, "resource", "https://other.example") },
		"another issuer":             func(d map[string]any) { replace(d, "issuer", "https://other.example") },
		"no encryption":              func(d map[string]any) { replace(d, "authorization_servers", []string{"http://other.example"}) },
		"no authorization server":    func(d map[string]any) { replace(d, "authorization_servers", []string{}) },
		"script as address":          func(d map[string]any) { replace(d, "authorization_endpoint", "javascript:alert(1)") },
		"no proof of code exchanges": func(d map[string]any) { replace(d, "code_challenge_methods_supported", []string{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectingtest.Start(t)
			s.Change = change
			if got, err := discovery.Find(t.Context(), s.Address()); err == nil && got.Resource != "" {
				t.Errorf("found %+v", got)
			}
		})
	}
}

// TestFindRefusesAddresses checks that the metadata may name only addresses to which tokens
// can be sent, and that a browser can open without starting another program.
func TestFindRefusesAddresses(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"} {
		for _, address := range []string{
			"file://localhost/bin/sh", "anyhandler://localhost/x", "http://other.example/x", "HTTP://other.example/x", "https:other.example",
			"https://a:b@other.example/x", "https://other.example/x#y", "//localhost/x", "http://localhost.example/x",
		} {
			t.Run(endpoint+" "+address, func(t *testing.T) {
				t.Parallel()
				s := connectingtest.Start(t)
				s.Change = func(d map[string]any) { replace(d, endpoint, address) }
				_, err := discovery.Find(t.Context(), s.Address())
				if err == nil || !strings.Contains(err.Error(), endpoint) || !strings.Contains(err.Error(), address) {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// replace sets a member that the document has.
func replace(document map[string]any, name string, value any) {
	if _, ok := document[name]; ok {
		document[name] = value
	}
}

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://mcp.example.com/mcp":    "",
		"http://localhost:8082/mcp":      "",
		"http://[::1]:8082":              "",
		"http://mcp.example.com/mcp":     "not encrypted",
		"http://localhost.example.com":   "not encrypted",
		"mcp.example.com":                "not a web address",
		"file:///etc/passwd":             "not a web address",
		"https://a:b@mcp.example.com":    "must not have a user",
		"https://mcp.example.com/mcp?x=": "must not have",
	} {
		_, err := discovery.CheckAddress(address)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}
