package proxies_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/throttle"
	"github.com/mailhelm/mailhelm/oauth/proxies"
)

func parseTrusted(t *testing.T, networks ...string) proxies.Trusted {
	t.Helper()
	found, err := proxies.Parse(networks)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRemoteIsTheLastThatIsNoProxy(t *testing.T) {
	t.Parallel()
	known := parseTrusted(t, "10.0.0.0/8", "192.0.2.7", "2001:db8:1::/48")
	for name, c := range map[string]struct {
		peer    string
		headers []string
		want    string // of access.NetworkOf
	}{
		"no proxy":                     {"203.0.113.9:1", nil, "203.0.113.9"},
		"a header of the client's own": {"203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		"next to a trusted network":    {"11.0.0.1:1", []string{"198.51.100.1"}, "11.0.0.1"},
		"through a proxy":              {"10.1.2.3:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"through the one by address":   {"192.0.2.7:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"beside the one by address":    {"192.0.2.8:1", []string{"198.51.100.1"}, "192.0.2.8"},
		"spoofed in front":             {"10.1.2.3:1", []string{"127.0.0.1, 10.9.9.9, 198.51.100.1"}, "198.51.100.1"},
		"spoofed in a line of its own": {"10.1.2.3:1", []string{"198.51.100.66", "198.51.100.1"}, "198.51.100.1"},
		"through two proxies":          {"10.1.2.3:1", []string{"198.51.100.66, 198.51.100.1, 10.4.4.4"}, "198.51.100.1"},
		"nobody but proxies":           {"10.1.2.3:1", []string{"10.5.5.5, 10.4.4.4"}, "10.5.5.5"},
		"a proxy that says nothing":    {"10.1.2.3:1", nil, "10.1.2.3"},
		"an empty header":              {"10.1.2.3:1", []string{""}, "10.1.2.3"},
		"no address":                   {"10.1.2.3:1", []string{"198.51.100.1, unknown"}, "10.1.2.3"},
		"a name":                       {"10.1.2.3:1", []string{"client.example"}, "10.1.2.3"},
		"with a port":                  {"10.1.2.3:1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		"IPv6":                         {"[2001:db8:1::9]:1", []string{"2001:db8:2:3:4::5"}, "2001:db8:2:3::/64"},
		"IPv6 in brackets with a port": {"[2001:db8:1::9]:1", []string{"[2001:db8:2:3:4::5]:80"}, "2001:db8:2:3::/64"},
		"IPv4 in IPv6":                 {"[::ffff:10.1.2.3]:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		"no peer":                      {"@", []string{"198.51.100.1"}, ""},
	} {
		r := httptest.NewRequest("POST", "/login", strings.NewReader(""))
		r.RemoteAddr = c.peer
		r.Header["X-Forwarded-For"] = c.headers
		if got := throttle.NetworkOf(known.Remote(r)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := (proxies.Trusted{}).Remote(r); got != c.peer {
			t.Errorf("%s, with nobody trusted: %q", name, got)
		}
	}
}

func TestNetworksThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "10.0.0.0/33", "proxy.example", "10.0.0.0/8 ", "fe80::1%eth0", "::ffff:10.0.0.0/104", "10.0.0.1:80"} {
		if _, err := proxies.Parse([]string{text}); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
