package access

import (
	"net/url"
	"strings"
	"testing"
)

func TestCheckRedirectURI(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"https://app.example/cb", "https://app.example", "https://app.example:8443/a/b?c=d&e", "https://app.example/%7Ecb",
		"http://localhost/cb", "http://localhost:1/cb", "http://127.0.0.1:65535", "http://[::1]:7777/cb?x",
	} {
		if err := CheckRedirectURI(uri); err != nil {
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
		"http://localhost:0/cb":                "https://",
		"http://localhost:/cb":                 "https://",
		"https://*.example/cb":                 "wildcards",
		"https://app.example/ cb":              "spaces",
		"https://app.example/cb\n":             "control",
		`https://app.example\cb`:               "backslashes",
		"https://аpp.example/cb":               "ASCII",
		"https://" + strings.Repeat("a", 2000): "2000",
	} {
		if err := CheckRedirectURI(uri); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

// FuzzMayRedirect looks for a redirect URI that passes and leads elsewhere: to
// another host, path or scheme than the one that is registered.
func FuzzMayRedirect(f *testing.F) {
	registered := []string{"https://app.example/cb", "http://127.0.0.1/cb", "http://[::1]:7777/cb"}
	for _, seed := range append([]string{"http://127.0.0.1:80@evil.example/cb", "http://127.0.0.1:1/cb", "http://[::1]/cb", "https://app.example/cb/", ""}, registered...) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, requested string) {
		if !MayRedirect(registered, requested) {
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

// TestWhatIsRegisteredCanBeUsed: registration and authorization hold a redirect
// URI to one rule, so none can be registered that is refused later.
func TestWhatIsRegisteredCanBeUsed(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"http://localhost:099/cb", "http://localhost:0/cb", "http://localhost:/cb", "http://LOCALHOST/cb"} {
		if CheckRedirectURI(uri) == nil || MayRedirect([]string{uri}, uri) {
			t.Errorf("%s passes", uri)
		}
	}
}
