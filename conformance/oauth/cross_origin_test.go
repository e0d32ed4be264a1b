package oauth_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestCrossOriginOfTheWholeServer checks that scripts of every origin can call every
// endpoint of the authorization server and read its answer, without cookies. The pages for
// people must not allow such calls.
func TestCrossOriginOfTheWholeServer(t *testing.T) {
	t.Parallel()
	product.OnceWith(t, product.Options{DynamicRegistration: true}, func(t *testing.T, p *product.Product) {
		s := newScene(t, p)
		b := s.signedIn() // a browser with a session cookie
		secret := "&client_id=" + p.Live.ClientID + "&client_secret=" + p.Live.ClientSecret
		token := p.Token(t, p.BaseURL)
		for _, c := range []struct {
			method, path, kind, body string
			status                   int
		}{
			{"POST", "/oauth/token", form, "grant_type=client_credentials" + secret, 200},
			{"POST", "/oauth/token", form, "grant_type=client_credentials", 401},
			{"POST", "/oauth/token", form, "grant_type=password" + secret, 400},
			{"GET", "/oauth/token", "", "", 405},
			{"POST", "/oauth/introspect", form, "token=" + token + secret, 200},
			{"POST", "/oauth/introspect", form, "token=" + token, 401},
			{"GET", "/oauth/introspect", "", "", 405},
			{"POST", "/oauth/register", "application/json", plainMetadata, 201},
			{"POST", "/oauth/register", "application/json", "{}", 400},
			{"GET", "/oauth/register", "", "", 405},
			{"POST", "/oauth/revoke", form, "token=" + token + secret, 200},
			{"POST", "/oauth/revoke", form, "token=" + token, 401},
			{"GET", "/.well-known/oauth-authorization-server", "", "", 200},
			{"GET", "/.well-known/jwks.json", "", "", 200},
			{"GET", "/.well-known/unknown", "", "", 404},
			{"DELETE", "/.well-known/jwks.json", "", "", 405},
		} {
			a := s.send(b, c.method, p.AuthURL+c.path, c.body, "Content-Type", c.kind, "Origin", "https://evil.example")
			if a.status != c.status {
				t.Errorf("%s %s: %d %s, want %d", c.method, c.path, a.status, a.body, c.status)
			}
			s.readableAnywhere(c.method+" "+c.path, a)
		}
		for path, methods := range map[string]string{
			"/oauth/token": "POST", "/oauth/revoke": "POST", "/oauth/introspect": "POST", "/oauth/register": "POST",
			"/.well-known/jwks.json": "GET, HEAD", "/.well-known/oauth-authorization-server": "GET, HEAD",
		} {
			a := s.send(b, http.MethodOptions, p.AuthURL+path, "", "Origin", "https://evil.example",
				"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type")
			if allowed := a.header.Get("Access-Control-Allow-Headers"); a.status != http.StatusNoContent ||
				a.header.Get("Access-Control-Allow-Methods") != methods || !strings.Contains(allowed, "Content-Type") {
				t.Errorf("OPTIONS %s: %d %v", path, a.status, a.header)
			}
			s.readableAnywhere("OPTIONS "+path, a)
		}
		for _, path := range []string{"/login", "/account/security", "/dashboard/keys", "/oauth/authorize?" + query(s.app), "/join"} {
			a := s.send(b, http.MethodGet, p.AppURL+path, "", "Origin", "https://evil.example")
			if got, there := a.header["Access-Control-Allow-Origin"]; there {
				t.Errorf("%s: Allow-Origin %q on a page for people", path, got)
			}
		}
	})
}

func (s *scene) readableAnywhere(what string, a answer) {
	s.t.Helper()
	if got := a.header["Access-Control-Allow-Origin"]; !slices.Equal(got, []string{"*"}) {
		s.t.Errorf("%s: %d with Allow-Origin %q", what, a.status, got)
	}
	if got, there := a.header["Access-Control-Allow-Credentials"]; there {
		s.t.Errorf("%s: Allow-Credentials %q", what, got)
	}
	if got := a.header.Get("Access-Control-Expose-Headers"); got != "WWW-Authenticate, Retry-After, X-Request-Id" {
		s.t.Errorf("%s: Expose-Headers %q", what, got)
	}
	if a.header["Set-Cookie"] != nil {
		s.t.Errorf("%s sets a cookie", what)
	}
}
