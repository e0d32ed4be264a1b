package clientdocument

import (
	"errors"
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// TestGuard checks that documents may be fetched from port 443 of the public Internet, and
// from any port of an allowed network.
func TestGuard(t *testing.T) {
	t.Parallel()
	g := newGuard([]netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")})
	for _, address := range []string{"1.1.1.1:443", "10.20.3.4:443", "10.20.3.4:8443"} {
		if err := g.Control("tcp4", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"1.1.1.1:22", "1.1.1.1:80", "1.1.1.1:587", "1.1.1.1:8443"} {
		if err := g.Control("tcp4", address, nil); !errors.Is(err, outbound.ErrPort) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := g.Control("tcp4", "10.21.3.4:443", nil); !errors.Is(err, ssrf.ErrProhibitedIP) {
		t.Errorf("a private address: %v", err)
	}
}

// TestHosts checks which client ids are refused before the DNS lookup, with and without
// allowed networks.
func TestHosts(t *testing.T) {
	t.Parallel()
	nowhere, networks := newGuard(nil), newGuard(loopback)
	for id, want := range map[string]struct{ public, allowed string }{
		"https://app.example/c":              {"", ""},
		"https://app.example:8443/c":         {"port", ""},
		"https://localhost/c":                {"public Internet", ""},
		"https://a.localhost/c":              {"public Internet", ""},
		"https://metadata/c":                 {"public Internet", ""},
		"https://metadata.google.internal/c": {"public Internet", ""},
		"https://printer.local/c":            {"public Internet", ""},
		"https://router.home.arpa/c":         {"public Internet", ""},
		"https://1.0.0.127.in-addr.arpa/c":   {"public Internet", ""},
		"https://abc.onion/c":                {"public Internet", ""},
		"https://wiki.corp/c":                {"public Internet", ""},
		"https://127.0.0.1/c":                {"IP address", ""},
		"https://127.0.0.1:8443/c":           {"IP address", ""},
		"https://[::1]/c":                    {"IP address", ""},
		"https://1.1.1.1/c":                  {"IP address", "IP address"},
		"https://10.0.0.1/c":                 {"IP address", "IP address"},
		"https://169.254.169.254/latest":     {"IP address", "IP address"},
		"https://[fd00:ec2::254]/latest":     {"IP address", "IP address"},
		"https://[::ffff:127.0.0.1]/c":       {"IP address", "IP address"},
		"https://[64:ff9b::7f00:1]/c":        {"IP address", "IP address"},
		"https://[2606:4700:4700::1111]/c":   {"IP address", "IP address"},
	} {
		u, err := readClientID(id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for want, err := range map[string]error{"-" + want.public: nowhere.checkURL(u), "+" + want.allowed: networks.checkURL(u)} {
			if want = want[1:]; want != "" {
				wantRefusal(t, err, want)
			} else if err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
}
