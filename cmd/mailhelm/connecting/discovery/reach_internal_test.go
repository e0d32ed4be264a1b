package discovery

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
)

// TestPlaceOf checks the places of IP addresses.
func TestPlaceOf(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]place{
		"192.0.32.8": public, "2606:4700::1": public, "100.63.255.255": public, "172.32.0.1": public,
		"10.1.2.3": private, "172.16.0.1": private, "192.168.1.1": private, "100.64.0.1": private, "169.254.169.254": private,
		"fd00::1": private, "fe80::1": private, "::ffff:10.1.2.3": private, "224.0.0.1": private,
		"127.0.0.1": loopback, "127.9.9.9": loopback, "::1": loopback, "0.0.0.0": loopback, "::": loopback, "::ffff:127.0.0.1": loopback,
	} {
		if got := placeOf(netip.AddrPortFrom(netip.MustParseAddr(ip), 443)); got != want {
			t.Errorf("%s is %v, want %v", ip, got, want)
		}
	}
}

// TestCheck checks which addresses the metadata of a server may name, by the address that
// the person gave.
func TestCheck(t *testing.T) {
	t.Parallel()
	const onInternet, inNetwork, here = "https://mcp.example.com/mcp", "https://10.1.2.3/mcp", "http://localhost:8082/mcp"
	for _, tc := range []struct{ address, from string }{
		{"https://auth.example.com/token?x=y", onInternet + inNetwork + here},
		{"https://10.9.9.9/token", inNetwork + here},
		{"https://[fd00::1]:8443/token", inNetwork + here},
		{"https://169.254.169.254/latest", inNetwork + here},
		{"https://localhost/token", here},
		{"https://LOCALHOST./token", here},
		{"https://a.localhost/token", here},
		{"https://[::ffff:127.0.0.1]/token", here},
		{"http://127.0.0.1:9000/token", here},
		{"http://[::1]/token", here},
		{"http://a.localhost/token", ""}, // which the DNS may resolve
		{"http://0.0.0.0/token", ""},
		{"http://10.9.9.9/token", ""},
		{"http://auth.example.com/token", ""},
		{"ftp://localhost/token", ""},
		{"https://", ""},
		{"token", ""},
	} {
		for _, given := range []string{onInternet, inNetwork, here} {
			u, err := CheckAddress(given)
			if err != nil {
				t.Fatal(err)
			}
			_, err = newReach(u).check("token_endpoint", tc.address)
			if want := strings.Contains(tc.from, given); (err == nil) != want {
				t.Errorf("%s from %s: %v, want permitted %v", tc.address, given, err, want)
			}
		}
	}
}

// host is an HTTPS server on this machine under the name example.com, which counts as being
// at any place.
type host struct {
	*httptest.Server
	place place
	calls atomic.Int32
}

// address returns the address of the host under its name.
func (h *host) address() string { return "https://example.com:" + h.port() }

func (h *host) port() string { return h.Listener.Addr().String()[len("127.0.0.1:"):] }

// startHost starts a host that answers with JSON documents by path.
func startHost(t *testing.T, at place, documents map[string]any) *host {
	t.Helper()
	h := &host{place: at}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.calls.Add(1)
		document, ok := documents[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(document) // a failure fails the test's request
	}))
	t.Cleanup(h.Close)
	return h
}

// finderAt returns the finder for an address, with the places of the hosts. All names have
// the address of this machine.
func finderAt(t *testing.T, given string, hosts ...*host) (finder, *url.URL) {
	t.Helper()
	u, err := url.Parse(given)
	if err != nil {
		t.Fatal(err)
	}
	r := newReach(u)
	r.placeOf = func(at netip.AddrPort) place {
		for _, h := range hosts {
			if h.Listener.Addr().String() == at.String() {
				return h.place
			}
		}
		return placeOf(at)
	}
	r.near.Store(int32(r.placeOfHost(u)))
	r.dialer.Resolver = outboundtest.NewNames(t, "127.0.0.1").Resolver()
	transport := r.transport()
	transport.Proxy, transport.DialContext = nil, r.dial
	transport.TLSClientConfig = hosts[0].Client().Transport.(*http.Transport).TLSClientConfig
	return finder{clientOf(transport), r}, u
}

// TestReach checks that the metadata of a server lead only to servers that are not nearer to
// this machine than the server itself: a server in a private network may use another one
// there, and a server on the Internet may not.
func TestReach(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		resource, authorization place
		found                   bool
	}{
		"both on the Internet":        {public, public, true},
		"both in a private network":   {private, private, true},
		"both here":                   {loopback, loopback, true},
		"private and on the Internet": {private, public, true},
		"from the Internet inwards":   {public, private, false},
		"from the Internet to here":   {public, loopback, false},
		"from the network to here":    {private, loopback, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metadata, resources := map[string]any{}, map[string]any{}
			auth := startHost(t, tc.authorization, map[string]any{"/.well-known/oauth-authorization-server": metadata})
			issuer := "https://www.example.com:" + auth.port()
			metadata["issuer"], metadata["token_endpoint"] = issuer, issuer+"/token"
			metadata["code_challenge_methods_supported"] = []string{"S256"}
			resource := startHost(t, tc.resource, map[string]any{"/.well-known/oauth-protected-resource": resources})
			resources["resource"], resources["authorization_servers"] = resource.address(), []string{issuer}
			f, u := finderAt(t, resource.address()+"/mcp", resource, auth)
			got, err := find(t.Context(), f, u)
			if !tc.found && (err == nil || !strings.Contains(err.Error(), tc.authorization.String()+", but example.com is "+tc.resource.String())) {
				t.Errorf("%v", err)
			}
			if (err == nil) != tc.found || tc.found && (got.Resource != resource.address() || got.Metadata.TokenEndpoint != issuer+"/token") {
				t.Errorf("%+v, %v", got, err)
			}
			if reached := auth.calls.Load() > 0; reached != tc.found {
				t.Errorf("reached %v", reached)
			}
		})
	}
}

// TestPrivateAddress checks that a server is found by its IP address in a private network.
func TestPrivateAddress(t *testing.T) {
	t.Parallel()
	documents := map[string]any{}
	h := startHost(t, private, documents)
	given := "https://127.0.0.1:" + h.port()
	documents["/.well-known/oauth-authorization-server"] = map[string]any{
		"issuer": given, "token_endpoint": given + "/token", "code_challenge_methods_supported": []string{"S256"},
	}
	f, u := finderAt(t, given, h)
	if got, err := find(t.Context(), f, u); err != nil || got.Metadata.TokenEndpoint != given+"/token" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestResourceOfTheDocument checks that a metadata document is used only if it is about the
// resource for which it was requested (RFC 9728 section 3.3).
func TestResourceOfTheDocument(t *testing.T) {
	t.Parallel()
	const well = "/.well-known/oauth-protected-resource"
	for name, tc := range map[string]struct {
		challenge string            // path of the document in the challenge, or ""
		about     map[string]string // paths of resources, by the paths of documents
		want      string            // path of the resource that is found, or "none"
	}{
		"the path's document":               {"", map[string]string{well + "/a/mcp": "/a/mcp", well: ""}, "/a/mcp"},
		"the origin's document":             {"", map[string]string{well: ""}, ""},
		"the origin's in the challenge":     {well, map[string]string{well + "/a/mcp": "/a/mcp", well: ""}, ""},
		"the path's in the challenge":       {well + "/a/mcp", map[string]string{well + "/a/mcp": "/a/mcp", well: ""}, "/a/mcp"},
		"another address":                   {"/a/document", map[string]string{"/a/document": "/a/mcp"}, "/a/mcp"},
		"another address about the origin":  {"/a/document", map[string]string{"/a/document": ""}, "none"},
		"another address about a neighbour": {"/a/document", map[string]string{"/a/document": "/b/mcp"}, "none"},
		"the path's about the origin":       {"", map[string]string{well + "/a/mcp": ""}, "none"},
		"the path's, then the origin's":     {well + "/a/mcp", map[string]string{well + "/a/mcp": "", well: ""}, ""},
		"the origin's about the path":       {"", map[string]string{well: "/a/mcp"}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents := map[string]any{}
			h := startHost(t, public, documents)
			for path, about := range tc.about {
				documents[path] = map[string]any{"resource": h.address() + about}
			}
			f, u := finderAt(t, h.address()+"/a/mcp", h)
			challenge := ""
			if tc.challenge != "" {
				challenge = h.address() + tc.challenge
			}
			got, err := f.resource(t.Context(), u, challenge)
			switch {
			case tc.want == "none" && got != nil:
				t.Errorf("found %s", got.Resource)
			case tc.want != "none" && (got == nil || got.Resource != h.address()+tc.want):
				t.Errorf("found %+v, %v", got, err)
			}
		})
	}
}
