package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
)

// redirectMutations are variants of the registered redirect URI https://app.example/cb, and
// other addresses that attackers try. Some URL parsers read many of them as the registered
// URI, or as an address on the attacker's host.
var redirectMutations = map[string]string{
	"path below":                  "https://app.example/cb/evil",
	"path above":                  "https://app.example/",
	"no path":                     "https://app.example",
	"another registered prefix":   "https://app.example/cbx",
	"case of the path":            "https://app.example/CB",
	"case of the host":            "https://APP.example/cb",
	"case of the scheme":          "HTTPS://app.example/cb",
	"trailing slash":              "https://app.example/cb/",
	"two slashes":                 "https://app.example//cb",
	"trailing dot of the host":    "https://app.example./cb",
	"letter encoded":              "https://app.example/c%62",
	"letter encoded twice":        "https://app.example/c%2562",
	"first letter encoded":        "https://app.example/%63b",
	"slash encoded":               "https://app.example%2fcb",
	"slash encoded twice":         "https://app.example%252fcb",
	"host encoded":                "https://%61pp.example/cb",
	"dot segment":                 "https://app.example/./cb",
	"dot dot segment":             "https://app.example/x/../cb",
	"dot dot to elsewhere":        "https://app.example/cb/../evil",
	"dot dot encoded":             "https://app.example/cb/%2e%2e/evil",
	"dot dot encoded twice":       "https://app.example/cb/%252e%252e/evil",
	"dot dot with backslash":      `https://app.example/cb/..\evil`,
	"path parameter":              "https://app.example/cb;evil",
	"added query":                 "https://app.example/cb?next=https://evil.example",
	"empty query":                 "https://app.example/cb?",
	"another query":               "https://app.example/cb?tenant=2",
	"longer query":                "https://app.example/cb?tenant=1&x=1",
	"fragment":                    "https://app.example/cb#evil",
	"empty fragment":              "https://app.example/cb#",
	"fragment encoded":            "https://app.example/cb%23",
	"user":                        "https://evil@app.example/cb",
	"host as user":                "https://app.example@evil.example/cb",
	"host as user and password":   "https://app.example:443@evil.example/cb",
	"host as user, slash encoded": "https://app.example%2f@evil.example/cb",
	"host as user, backslash":     `https://app.example\@evil.example/cb`,
	"suffix host":                 "https://app.example.evil.example/cb",
	"prefix host":                 "https://evil-app.example/cb",
	"longer host":                 "https://xapp.example/cb",
	"subdomain":                   "https://sub.app.example/cb",
	"parent domain":               "https://example/cb",
	"wildcard host":               "https://*.example/cb",
	"wildcard":                    "*",
	"in the path of another":      "https://evil.example/https://app.example/cb",
	"in the query of another":     "https://evil.example?https://app.example/cb",
	"default port written":        "https://app.example:443/cb",
	"other port":                  "https://app.example:8443/cb",
	"empty port":                  "https://app.example:/cb",
	"http":                        "http://app.example/cb",
	"no scheme":                   "//app.example/cb",
	"relative":                    "/cb",
	"custom scheme":               "app.example:/cb",
	"javascript":                  "javascript:alert(1)//https://app.example/cb",
	"data":                        "data:text/html,https://app.example/cb",
	"one slash":                   "https:/app.example/cb",
	"three slashes":               "https:///app.example/cb",
	"backslashes":                 `https:\\app.example\cb`,
	"backslash before the path":   `https://app.example\cb`,
	"tab in the host":             "https://app\t.example/cb",
	"newline at the end":          "https://app.example/cb\n",
	"line break and header":       "https://app.example/cb\r\nLocation: https://evil.example",
	"space in front":              " https://app.example/cb",
	"space behind":                "https://app.example/cb ",
	"NUL in the host":             "https://app.example\x00.evil.example/cb",
	"NUL encoded":                 "https://app.example%00.evil.example/cb",
	"NUL encoded in the path":     "https://app.example/cb%00",
	"ideographic full stop":       "https://app。example/cb",
	"fullwidth full stop":         "https://app．example/cb",
	"fullwidth solidus":           "https://app.example／cb",
	"Cyrillic letter":             "https://аpp.example/cb",
	"IDN in Punycode":             "https://xn--pp-7kc.example/cb",
	"zero-width space":            "https://app.example\u200b/cb",
	"soft hyphen":                 "https://app\u00ad.example/cb",
	"not UTF-8":                   "https://app.example/cb\xff",
	"loopback name":               "http://localhost/cb",
	"loopback address":            "http://127.0.0.1/cb",
	"out of band":                 "urn:ietf:wg:oauth:2.0:oob",
	"two in one":                  "https://app.example/cb https://evil.example/cb",
	"two in one, comma":           "https://app.example/cb,https://evil.example/cb",
	"overlong":                    "https://app.example/cb" + strings.Repeat("/", 4000),
	"empty":                       "",
}

// loopbackMutations are variants of http://127.0.0.1/cb and http://localhost/cb that could
// reach another program or another machine.
var loopbackMutations = map[string]string{
	"IPv6 for IPv4":             "http://[::1]:7777/cb",
	"IPv4 in IPv6":              "http://[::ffff:127.0.0.1]:7777/cb",
	"IPv6 written out":          "http://[0:0:0:0:0:0:0:1]:7777/cb",
	"IPv6 zone":                 "http://[::1%25lo]:7777/cb",
	"another loopback address":  "http://127.0.0.2:7777/cb",
	"address in decimal":        "http://2130706433:7777/cb",
	"address in hexadecimal":    "http://0x7f000001:7777/cb",
	"address in octal":          "http://0177.0.0.1:7777/cb",
	"address cut short":         "http://127.1:7777/cb",
	"any address":               "http://0.0.0.0:7777/cb",
	"https for http":            "https://127.0.0.1:7777/cb",
	"port as user":              "http://127.0.0.1:7777@evil.example/cb",
	"suffix host on the port":   "http://127.0.0.1.evil.example:7777/cb",
	"suffix host of localhost":  "http://localhost.evil.example:7777/cb",
	"subdomain of localhost":    "http://evil.localhost:7777/cb",
	"localhost in capitals":     "http://LOCALHOST:7777/cb",
	"localhost with a dot":      "http://localhost.:7777/cb",
	"port zero":                 "http://127.0.0.1:0/cb",
	"port too large":            "http://127.0.0.1:65536/cb",
	"port with a zero in front": "http://127.0.0.1:07777/cb",
	"port with a sign":          "http://127.0.0.1:+7777/cb",
	"no port after the colon":   "http://127.0.0.1:/cb",
	"two ports":                 "http://127.0.0.1:80:7777/cb",
	"other path on a port":      "http://127.0.0.1:7777/evil",
	"query on a port":           "http://127.0.0.1:7777/cb?x=y",
}

// TestAttackRedirectURI checks authorization requests whose redirect URI is not registered
// for the client. They are refused without a redirect and without a consent page, whether
// or not the browser is signed in.
func TestAttackRedirectURI(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	own := s.selfRegistered("", s.native.RedirectURIs...)
	victim, nobody := s.signedIn(), s.browser()
	for name, uri := range redirectMutations {
		t.Run(name, func(t *testing.T) { s.on(t).checkNotRedirected(query(s.app, "redirect_uri", uri), victim, nobody) })
	}
	for name, uri := range loopbackMutations {
		t.Run(name, func(t *testing.T) { s.on(t).checkNotRedirected(query(own, "redirect_uri", uri), victim, nobody) })
	}
	for name, q := range map[string]string{
		"given twice":                   query(s.app) + "&redirect_uri=" + url.QueryEscape("https://evil.example/cb"),
		"given twice, good one last":    "redirect_uri=" + url.QueryEscape("https://evil.example/cb") + "&" + query(s.app),
		"left out":                      query(s.app, "redirect_uri", "-"),
		"of another client":             query(s.app, "redirect_uri", s.native.RedirectURIs[0]),
		"in capitals as a parameter":    query(s.app, "redirect_uri", "-", "REDIRECT_URI", callback),
		"encoded twice as a whole":      query(s.app, "redirect_uri", url.QueryEscape(callback)),
		"good one behind a semicolon":   query(s.app, "redirect_uri", "-") + ";redirect_uri=" + url.QueryEscape(callback),
		"in a request object":           query(s.app, "redirect_uri", "-", "request", unsigned(`{"alg":"none"}`, `{"redirect_uri":"https://evil.example/cb"}`)),
		"client unknown":                query(s.app, "client_id", "oc_live_AAAAAAAAAAAAAAAAAAAAAAAAAA"),
		"client given twice":            query(s.app) + "&client_id=" + s.native.ClientID,
		"client without redirects":      query(s.app, "client_id", s.p.Live.ClientID),
		"fault beside a strange target": query(s.app, "redirect_uri", "https://evil.example/cb", "response_type", "token"),
	} {
		t.Run(name, func(t *testing.T) { s.on(t).checkNotRedirected(q, victim, nobody) })
	}
	if s.grants() != 0 {
		t.Errorf("%d grants came of it", s.grants())
	}
}

// on returns a copy of the scene that reports to the subtest t.
func (s *scene) on(t *testing.T) *scene {
	copied := *s
	copied.t = t
	return &copied
}

// checkNotRedirected sends an authorization request, and a forged approval of it, from each
// browser. Every answer must be a 400 without a redirect and without a link to the
// attacker.
func (s *scene) checkNotRedirected(q string, browsers ...*http.Client) {
	s.t.Helper()
	for _, b := range browsers {
		asked := s.get(b, "/oauth/authorize?"+q)
		forged := s.submit(b, "/oauth/authorize", url.Values{"request": {q}, "decision": {"approve"}, "org_id": {s.p.OrgID}})
		for _, a := range []answer{asked, forged} {
			if a.status != http.StatusBadRequest || a.header.Get("Location") != "" || a.header.Get("Refresh") != "" ||
				strings.Contains(a.body, "evil.example") || strings.Contains(a.body, `http-equiv`) {
				s.t.Errorf("%d to %q: %.400s", a.status, a.header.Get("Location"), a.body)
			}
		}
	}
}

// TestLoopbackPortRule checks that a public, self-registered client may use any port in a
// loopback redirect URI. The code must go to that port and be valid only with that redirect
// URI. Every other client must use a registered redirect URI byte for byte.
func TestLoopbackPortRule(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		own := s.selfRegistered("", "http://127.0.0.1/cb", "http://localhost/cb")
		for _, uri := range []string{"http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb", "http://localhost:49152/cb"} {
			u := s.decide(s.signedIn(), query(own, "redirect_uri", uri), "approve")
			if got, _, _ := strings.Cut(u.String(), "?"); got != uri {
				t.Errorf("%s became %s", uri, got)
			}
			s.granted(s.redeem(own, u.Query().Get("code"), "redirect_uri", uri))
		}
		stolen := s.code(own, "redirect_uri", "http://127.0.0.1:1111/cb")
		s.refused(s.redeem(own, stolen, "redirect_uri", "http://127.0.0.1:2222/cb"), "invalid_grant")

		victim, nobody := s.signedIn(), s.browser()
		for name, c := range map[string]registeredClient{
			"public, by hand":         s.application(s.p.OrgID, "", "http://127.0.0.1:1111/cb"),
			"confidential, by hand":   s.application(s.p.OrgID, access.MintClientSecret().Secret, "http://127.0.0.1:1111/cb"),
			"confidential, by itself": s.selfRegistered(access.MintClientSecret().Secret, "http://127.0.0.1:1111/cb"),
		} {
			for _, uri := range []string{"http://127.0.0.1:2222/cb", "http://127.0.0.1/cb", "http://127.0.0.1:1111/cb/"} {
				t.Log(name, uri)
				s.checkNotRedirected(query(c, "redirect_uri", uri), victim, nobody)
			}
			s.granted(s.redeem(c, s.code(c)))
		}
	})
}
