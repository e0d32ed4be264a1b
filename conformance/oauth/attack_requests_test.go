package oauth_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAttackState checks that the state parameter comes back unchanged, or the request is
// refused. A state must never add a header or a body to the answer.
func TestAttackState(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	victim := s.signedIn()
	for name, state := range map[string]string{
		"unicode":             "süß 🦊 \u202e\u00ad",
		"what needs escaping": `a&b=c+d%20e#f?g;h"i<j>'\`,
		"an answer in it":     "x&code=evil&iss=https://evil.example",
		"a URL":               "https://evil.example/?code=x#y",
		"8 KB":                strings.Repeat("s", 8<<10),
	} {
		t.Run(name, func(t *testing.T) {
			s := s.on(t)
			for _, decision := range []string{"approve", "deny"} {
				got := s.decide(victim, query(s.app, "state", state), decision).Query()
				if len(got["state"]) != 1 || got.Get("state") != state || len(got["iss"]) != 1 || got.Get("iss") != s.p.AuthURL {
					t.Errorf("%s: %v", decision, got)
				}
			}
		})
	}
	for name, state := range map[string]string{
		"line break and header": "x\r\nSet-Cookie: mailhelm_session=evil",
		"line break and body":   "x\r\n\r\n<script>alert(1)</script>",
		"NUL":                   "x\x00",
		"not UTF-8":             "x\xff",
	} {
		t.Run(name, func(t *testing.T) {
			a := s.on(t).get(victim, "/oauth/authorize?"+query(s.app, "state", state))
			back, err := url.Parse(a.header.Get("Location"))
			if err != nil || a.status != http.StatusSeeOther || !strings.HasPrefix(back.String(), callback+"?") || back.Query().Has("state") ||
				back.Query().Get("error") != "invalid_request" || len(a.header["Set-Cookie"]) != 0 || a.body != "" {
				t.Errorf("%d %v %s", a.status, a.header, a.body)
			}
		})
	}
	t.Run("17 KB", func(t *testing.T) {
		s.on(t).checkNotRedirected(query(s.app, "state", strings.Repeat("s", 17<<10)), victim)
	})
}

// TestAttackParametersOfOtherProtocols sends parameters of other protocols, such as
// request_uri of OpenID Connect. They must not redirect an answer elsewhere, skip the
// consent page or make the server fetch a URL.
func TestAttackParametersOfOtherProtocols(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	var fetched atomic.Int32
	bait := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	t.Cleanup(bait.Close)
	evil := unsigned(`{"alg":"none"}`, `{"redirect_uri":"https://evil.example/cb","scope":"api.contacts.manage","client_id":"`+s.native.ClientID+`"}`)
	victim := s.signedIn()
	for name, pairs := range map[string][]string{
		"request":              {"request", evil},
		"request_uri":          {"request_uri", bait.URL + "/request"},
		"registration":         {"registration", `{"redirect_uris":["https://evil.example/cb"]}`},
		"prompt none":          {"prompt", "none"},
		"approval_prompt auto": {"approval_prompt", "auto"},
		"claims":               {"claims", `{"id_token":{"email":null}}`},
		"id_token_hint":        {"id_token_hint", evil},
		"login_hint":           {"login_hint", "evil@example.net"},
		"web_message_uri":      {"web_message_uri", bait.URL},
		"dpop_jkt":             {"dpop_jkt", "x"},
		"decision":             {"decision", "approve"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.on(t)
			before := s.grants()
			shown := s.consent(victim, query(s.app, pairs...))
			if !shown.Has("token") || s.grants() != before {
				t.Error("the victim was not asked")
			}
			back := s.decide(victim, query(s.app, pairs...), "approve")
			if got, _, _ := strings.Cut(back.String(), "?"); got != callback || back.Query().Has("id_token") || back.Query().Has("access_token") {
				t.Errorf("back to %s", back)
			}
			a := s.granted(s.redeem(s.app, back.Query().Get("code")))
			if *a.Scope != sceneScopes || strings.Contains(a.body, "id_token") {
				t.Errorf("issued %s", a.body)
			}
			if login := s.get(s.browser(), "/oauth/authorize?"+query(s.app, pairs...)); !strings.HasPrefix(login.header.Get("Location"), "/login?") {
				t.Errorf("nobody is sent to %q", login.header.Get("Location"))
			}
		})
	}
	if fetched.Load() != 0 {
		t.Errorf("the server fetched %d documents of the attacker", fetched.Load())
	}
}

// TestAttackResponseTypeAndMode checks that the authorization endpoint issues nothing but
// authorization codes, and only in the query of the redirect. Every other response type or
// mode gets an error, so scripts on the client's page see no tokens.
func TestAttackResponseTypeAndMode(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	victim := s.signedIn()
	for name, pairs := range map[string][]string{
		"implicit":                {"response_type", "token"},
		"hybrid":                  {"response_type", "code id_token"},
		"id_token":                {"response_type", "id_token"},
		"none":                    {"response_type", "none"},
		"response_mode fragment":  {"response_mode", "fragment"},
		"response_mode form_post": {"response_mode", "form_post"},
		"response_mode jwt":       {"response_mode", "query.jwt"},
		"web_message":             {"response_mode", "web_message"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.on(t).get(victim, "/oauth/authorize?"+query(s.app, pairs...))
			back, err := url.Parse(a.header.Get("Location"))
			if err != nil || a.status != http.StatusSeeOther || back.Fragment != "" || back.Query().Get("error") == "" || back.Query().Has("code") ||
				back.Query().Get("iss") != s.p.AuthURL || back.Query().Get("state") != "s 1&" {
				t.Errorf("%d to %q", a.status, back)
			}
		})
	}
	if s.grants() != 0 {
		t.Errorf("%d grants came of it", s.grants())
	}
}

// TestAttackMethodsOfTheAuthorizationEndpoint checks that an authorization request is
// accepted only with GET. Other methods, and a POST of the parameters as in OpenID Connect,
// are refused without a redirect or a grant.
func TestAttackMethodsOfTheAuthorizationEndpoint(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	victim := s.signedIn()
	for _, method := range []string{"HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		t.Run(method, func(t *testing.T) {
			a := s.on(t).send(victim, method, s.p.AppURL+"/oauth/authorize?"+query(s.app), "", "Origin", s.p.AppURL)
			if a.status != http.StatusMethodNotAllowed || a.header.Get("Location") != "" || a.header.Get("Allow") != "GET, POST" {
				t.Errorf("%d %v", a.status, a.header)
			}
		})
	}
	t.Run("POST of a request", func(t *testing.T) {
		values, err := url.ParseQuery(query(s.app, "decision", "approve", "org_id", s.p.OrgID))
		s.must(err)
		for _, path := range []string{"/oauth/authorize", "/oauth/authorize?" + query(s.app)} {
			if a := s.on(t).submit(victim, path, values); a.status != http.StatusBadRequest || a.header.Get("Location") != "" {
				t.Errorf("%d to %q", a.status, a.header.Get("Location"))
			}
		}
	})
	t.Run("two request lines", func(t *testing.T) { sendSmuggledRequest(t, s) })
	if s.grants() != 0 {
		t.Errorf("%d grants came of it", s.grants())
	}
}

// sendSmuggledRequest sends a request with two different Content-Length headers and expects
// a single answer, with status 400. Otherwise a proxy and the server could disagree about
// where the next request begins.
func sendSmuggledRequest(t *testing.T, s *scene) {
	t.Helper()
	address, err := url.Parse(s.p.AuthURL)
	s.must(err)
	var dialer net.Dialer
	c, err := dialer.DialContext(t.Context(), "tcp", address.Host)
	s.must(err)
	defer c.Close() //nolint:errcheck // nothing is read back from it
	_, err = c.Write([]byte("POST /oauth/token HTTP/1.1\r\nHost: " + address.Host + "\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nGET / HTTP/1.1\r\n\r\n"))
	s.must(err)
	text := make([]byte, 512)
	n, err := c.Read(text)
	s.must(err)
	if !strings.HasPrefix(string(text[:n]), "HTTP/1.1 400 ") || strings.Count(string(text[:n]), "HTTP/1.1") != 1 {
		t.Errorf("%s", text[:n])
	}
}
