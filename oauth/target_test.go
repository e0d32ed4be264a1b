package oauth

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
)

func TestCanonicalAddress(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"http://localhost:8080":         "http://localhost:8080",
		"http://localhost:8080/":        "http://localhost:8080",
		"HTTPS://API.Example.COM":       "https://api.example.com",
		"https://api.example.com:443":   "https://api.example.com",
		"http://api.example.com:80/":    "http://api.example.com",
		"http://api.example.com:443":    "http://api.example.com:443",
		"https://api.example.com/Base/": "https://api.example.com/Base",
		"https://api.example.com/a%2Fb": "https://api.example.com/a%2Fb",
		"http://[::1]:8080/":            "http://[::1]:8080",
	} {
		if got, err := canonicalAddress(value); err != nil || got != want {
			t.Errorf("%s: %q, %v", value, got, err)
		}
	}
	for _, value := range []string{
		"", "/", "localhost", "localhost:8080", "//localhost", "ftp://localhost", "http://", "http:///path", "http://:8080",
		"http://a@localhost", "http://localhost?", "http://localhost#", "http://localhost/#x", "http:localhost", "http://a b", "http://%zz", "urn:x",
	} {
		if got, err := canonicalAddress(value); err == nil {
			t.Errorf("%q: accepted as %q", value, got)
		}
	}
}

// TestRequestedResourceIsOne checks that the parameter resource may be repeated with other
// spellings of one resource, and that two resources are refused in either order.
func TestRequestedResourceIsOne(t *testing.T) {
	t.Parallel()
	const api, agent = "https://api.example.com", "https://mcp.example.com"
	both := targets{api: api, agent: agent}
	for _, c := range []struct {
		values []string
		want   access.Resource
	}{
		{nil, access.API},
		{[]string{api}, access.API},
		{[]string{agent}, access.Agent},
		{[]string{api, api + "/"}, access.API},
		{[]string{agent + ":443", agent, agent + "/"}, access.Agent},
	} {
		if got, refused := both.requestedResource(c.values); refused != nil || got != c.want {
			t.Errorf("%v: %v, %+v", c.values, got, refused)
		}
	}
	for _, values := range [][]string{{api, agent}, {agent, api}, {agent, agent, api}, {agent, ""}, {api, api + "/v1"}} {
		if got, refused := both.requestedResource(values); refused == nil || refused.code() != "invalid_target" {
			t.Errorf("%v: %v, %+v", values, got, refused)
		}
	}
}

func TestAddressesThatCannotServe(t *testing.T) {
	t.Parallel()
	good := Config{Issuer: "https://auth.example.com", APIResource: "https://api.example.com", AgentResource: "https://mcp.example.com"}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no issuer":            {func(c *Config) { c.Issuer = "" }, "issuer"},
		"issuer with a slash":  {func(c *Config) { c.Issuer += "/" }, "canonical"},
		"issuer with a path":   {func(c *Config) { c.Issuer += "/auth" }, "origin"},
		"issuer in capitals":   {func(c *Config) { c.Issuer = "https://Auth.example.com" }, "canonical"},
		"issuer with port 443": {func(c *Config) { c.Issuer += ":443" }, "canonical"},
		"relative API":         {func(c *Config) { c.APIResource = "/v1" }, "API resource"},
		"agent with a query":   {func(c *Config) { c.AgentResource += "?a" }, "agent resource"},
		"one address for both": {func(c *Config) { c.AgentResource = "https://API.example.com/" }, "addresses of their own"},
	} {
		cfg := good
		c.change(&cfg)
		if _, err := checkAddresses(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := NewVerifier(cfg); err == nil {
			t.Errorf("%s: the verifier takes it", name)
		}
	}
	if _, err := checkAddresses(good); err != nil {
		t.Error(err)
	}
}
