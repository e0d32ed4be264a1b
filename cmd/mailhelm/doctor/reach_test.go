package doctor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/network"
	"github.com/mailhelm/mailhelm/oauth/proxies"
)

// checkOf returns the results with a name, as text.
func checkOf(r doctor.Report, name string) (status doctor.Status, text string) {
	for _, c := range r.Checks {
		if c.Name == name {
			status = c.Status
			text += c.Detail + " -> " + c.Next + "\n"
		}
	}
	return status, text
}

// TestPublicNames checks what doctor says about public addresses whose name has no address, that
// do not answer, or that answer for something else.
func TestPublicNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*config.Config)
		status doctor.Status
		text   string
	}{
		"healthy": {func(*config.Config) {}, doctor.OK, "5 public addresses"},
		"no DNS record": {func(c *config.Config) {
			c.LookupHost = func(_ context.Context, host string) ([]string, error) {
				if host == "mcp.example.com" {
					return nil, errors.New("no such host")
				}
				return []string{"203.0.113.1"}, nil
			}
		}, doctor.Warn, "--mcp-url: mcp.example.com has no address in DNS"},
		"refused": {func(c *config.Config) {
			c.PublicClient = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })}
		}, doctor.Warn, "--base-url https://api.example.com does not answer: connection refused"},
		"another host name": {func(c *config.Config) { c.PublicClient = answering(421, "") }, doctor.Warn, "forward the header Host"},
		"another program":   {func(c *config.Config) { c.PublicClient = answering(404, "") }, doctor.Warn, "answers 404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := newConfig(t)
			cfg.Public.Asset, cfg.Listen.Asset = "https://images.example.net", cfg.Listen.Fetch
			test.change(&cfg)
			if status, text := checkOf(doctor.Examine(t.Context(), cfg, ""), "public names"); status != test.status || !strings.Contains(text, test.text) {
				t.Errorf("%s: %s", status, text)
			}
		})
	}
}

// TestProxyHeaders checks what doctor says about the address of the caller that a server saw. In
// the last cases a server with the given trusted proxies decides what it saw.
func TestProxyHeaders(t *testing.T) {
	t.Parallel()
	for seen, want := range map[string]struct {
		status doctor.Status
		text   string
	}{
		"203.0.113.7:1":  {doctor.OK, "saw this machine as 203.0.113.7"},
		"192.0.2.123:0":  {doctor.Fail, "forged"},
		"10.0.0.10:4711": {doctor.Warn, "may be the proxy"},
		"":               {doctor.Warn, config.ClientHeader},
	} {
		cfg := newConfig(t)
		cfg.PublicClient = answering(http.StatusOK, seen)
		if status, text := checkOf(doctor.Examine(t.Context(), cfg, ""), "proxy headers"); status != want.status || !strings.Contains(text, want.text) {
			t.Errorf("%q: %s: %s", seen, status, text)
		}
	}
	for network, want := range map[string]doctor.Status{"127.0.0.0/8": doctor.Fail, "10.0.0.0/8": doctor.OK} {
		server := httptest.NewServer(shown(t, network))
		cfg := newConfig(t)
		cfg.Public = config.Public{API: server.URL}
		cfg.PublicClient = nil // the server is on the loopback
		if status, text := checkOf(doctor.Examine(t.Context(), cfg, ""), "proxy headers"); status != want {
			t.Errorf("trusted %s: %s: %s", network, status, text)
		}
		server.Close()
	}
}

// shown is a server that trusts proxies in a network.
func shown(t *testing.T, trusted string) http.Handler {
	t.Helper()
	parsed, err := proxies.Parse([]string{trusted})
	if err != nil {
		t.Fatal(err)
	}
	return network.ShowClient(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), parsed.Remote)
}

// TestARunningServerShowsItsCaller checks that the health check of a running server has the header
// that doctor reads.
func TestARunningServerShowsItsCaller(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	cfg.Public, cfg.PublicClient = config.Public{}, nil
	h, err := serve.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop(context.Background()) //nolint:errcheck // nothing runs
	cfg.Public.API = h.Addresses().API
	if status, text := checkOf(doctor.Examine(t.Context(), cfg, ""), "proxy headers"); status != doctor.OK {
		t.Errorf("%s: %s", status, text)
	}
}
