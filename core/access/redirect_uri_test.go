package access_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
)

func TestCheckRedirectURI(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"https://app.example/cb", "https://app.example", "https://app.example:8443/a/b?c=d&e", "https://app.example/%7Ecb",
		"http://localhost/cb", "http://localhost:1/cb", "http://127.0.0.1:65535", "http://[::1]:7777/cb?x",
		"https://app.example:1/cb", "https://app.example:65535", "https://[2001:db8::1]/cb", "https://[2001:db8::1]:443/cb", "https://app.example/a:b",
		"https://app.example?a:0", "https://app.example/https://b:0",
	} {
		if err := access.CheckRedirectURI(uri); err != nil {
			t.Errorf("%s %v", uri, err)
		}
	}
	for uri, want := range map[string]string{
		"":                                     "absolute",
		"/cb":                                  "absolute",
		"https:///cb":                          "absolute",
		"https://:443/cb":                      "absolute",
		"https://%zz/cb":                       "absolute",
		"https://app.example/cb#":              "fragment",
		"https://app.example/cb#x":             "fragment",
		"https://a@app.example/cb":             "user",
		"https://@app.example/cb":              "user",
		"http://app.example/cb":                "https://",
		"HTTPS://app.example/cb":               "https://",
		"ftp://app.example/cb":                 "https://",
		"myapp://cb":                           "https://",
		"http://localhost.example/cb":          "https://",
		"http://127.0.0.2/cb":                  "https://",
		"http://localhost:0/cb":                "port",
		"http://localhost:/cb":                 "port",
		"http://[::1]:65536/cb":                "port",
		"http://127.0.0.1:x/cb":                "port",
		"https://app.example:0/cb":             "port",
		"https://app.example:65536/cb":         "port",
		"https://app.example:99999999999/cb":   "port",
		"https://app.example:08443/cb":         "port",
		"https://app.example:port/cb":          "port",
		"https://app.example:8443x?y":          "port",
		"https://app.example:":                 "port",
		"https://app.example:?x":               "port",
		"https://app.example:-1/cb":            "port",
		"https://app.example:+443/cb":          "port",
		"https://app.example:80:443/cb":        "port",
		"https://[2001:db8::1]:0/cb":           "port",
		"https://[2001:db8::1]x:0/cb":          "port",
		"https://*.example/cb":                 "wildcards",
		"https://app.example/ cb":              "spaces",
		"https://app.example/cb\n":             "control",
		`https://app.example\cb`:               "backslashes",
		"https://аpp.example/cb":               "ASCII",
		"https://" + strings.Repeat("a", 2000): "2000",
	} {
		if err := access.CheckRedirectURI(uri); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

// FuzzMayRedirect searches for a redirect URI that is accepted although it leads to another
// host, path or scheme than the registered one.
func FuzzMayRedirect(f *testing.F) {
	registered := []string{"https://app.example/cb", "http://127.0.0.1/cb", "http://[::1]:7777/cb"}
	open := access.Client{Kind: access.DynamicClient, RedirectURIs: registered}
	for _, seed := range append([]string{"http://127.0.0.1:80@evil.example/cb", "http://127.0.0.1:1/cb", "http://[::1]/cb", "https://app.example/cb/", ""}, registered...) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, requested string) {
		if !open.MayRedirect(requested) {
			return
		}
		u, err := url.Parse(requested)
		if err != nil || u.User != nil || u.Path != "/cb" || u.RawQuery != "" || strings.Contains(requested, "#") {
			t.Fatalf("%q passes", requested)
		}
		if u.Scheme+"://"+u.Hostname() != "http://127.0.0.1" && u.Scheme+"://"+u.Hostname() != "http://::1" && requested != registered[0] {
			t.Fatalf("%q passes", requested)
		}
	})
}

// TestWhatIsRegisteredCanBeUsed checks that registration and authorization apply the same
// rule: a redirect URI that cannot be registered cannot be used either.
func TestWhatIsRegisteredCanBeUsed(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"http://localhost:099/cb", "http://localhost:0/cb", "http://localhost:/cb", "http://LOCALHOST/cb", "https://app.example:0/cb", "https://app.example:65536"} {
		if access.CheckRedirectURI(uri) == nil || (access.Client{RedirectURIs: []string{uri}}).MayRedirect(uri) {
			t.Errorf("%s passes", uri)
		}
	}
}

// TestWhoseLoopbackPortMayVary checks which clients may use another loopback port than the
// registered one (RFC 8252 section 7.3): only public clients that belong to no
// organization.
func TestWhoseLoopbackPortMayVary(t *testing.T) {
	t.Parallel()
	secret := access.HashSecret("secret")
	for name, c := range map[string]struct {
		client access.Client
		varies bool
	}{
		"described by its document, public":      {access.Client{Kind: access.DocumentClient}, true},
		"registered itself, public":              {access.Client{Kind: access.DynamicClient}, true},
		"registered itself, confidential":        {access.Client{Kind: access.DynamicClient, SecretHash: secret}, false},
		"registered by hand, public":             {access.Client{Kind: access.RegisteredClient, OrgID: "org"}, false},
		"registered by hand, confidential":       {access.Client{Kind: access.RegisteredClient, OrgID: "org", SecretHash: secret}, false},
		"of an organization, whatever its kind":  {access.Client{Kind: access.DynamicClient, OrgID: "org"}, false},
		"of a kind that is not known, of nobody": {access.Client{Kind: "other"}, false},
	} {
		for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
			c.client.RedirectURIs = []string{"http://" + host + ":49152/cb", "https://app.example/cb"}
			for requested, want := range map[string]bool{
				"http://" + host + ":49152/cb": true,
				"http://" + host + ":49153/cb": c.varies,
				"http://" + host + "/cb":       c.varies,
				"https://app.example:8443/cb":  false,
			} {
				if got := c.client.MayRedirect(requested); got != want {
					t.Errorf("%s: %s: %t", name, requested, got)
				}
			}
		}
	}
}
