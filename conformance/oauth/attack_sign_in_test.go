package oauth_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"
)

// browserFrom returns a browser that connects from the given IP address of this machine.
func (s *scene) browserFrom(address string) *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	s.must(err)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp4", strings.Replace(to, "localhost", "127.0.0.1", 1))
	}}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Jar: jar, CheckRedirect: s.p.HTTP.CheckRedirect}
}

// TestAttackGuessingPasswords checks that password guessing is blocked after a few
// attempts, even with the right password and with forged proxy headers. Other people can
// still sign in, and the block ends within an hour. The account's owner can sign in from
// another network. On a known device, the owner can also sign in from the attacker's
// network.
func TestAttackGuessingPasswords(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		s.p.Clock.Freeze(s.p.Clock.Now())
		s.person("bystander", s.p.OrgID)
		guesser, ownersDevice := s.browserFrom("127.0.0.2"), s.browserFrom("127.0.0.2")
		if a := s.signIn(ownersDevice, s.p.UserEmail, s.p.UserPassword); a.status != http.StatusSeeOther {
			t.Fatalf("the owner before: %d", a.status)
		}
		s.submit(ownersDevice, "/logout", url.Values{})
		tried := map[int]int{}
		for i := range 25 {
			spelling := []string{s.p.UserEmail, strings.ToUpper(s.p.UserEmail), strings.ToUpper(s.p.UserEmail[:1]) + s.p.UserEmail[1:]}[i%3]
			values := url.Values{"email": {spelling}, "password": {fmt.Sprint("guess", i)}}
			a := s.submit(guesser, "/login", values, "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i), "X-Real-Ip", fmt.Sprintf("198.51.100.%d", i),
				"Forwarded", fmt.Sprintf("for=198.51.100.%d", i))
			tried[a.status]++
			if a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "" {
				t.Fatal("429 without Retry-After")
			}
		}
		if tried[http.StatusUnauthorized] > 10 || tried[http.StatusTooManyRequests] < 15 || tried[http.StatusUnauthorized]+tried[http.StatusTooManyRequests] != 25 {
			t.Errorf("answers by status: %v", tried)
		}
		right := s.signIn(guesser, s.p.UserEmail, s.p.UserPassword)
		if right.status != http.StatusTooManyRequests || len(right.header["Set-Cookie"]) != 0 {
			t.Errorf("the right password meanwhile: %d", right.status)
		}
		for _, b := range []*http.Client{s.browser(), s.browserFrom("127.0.0.3")} {
			if a := s.signIn(b, "bystander@example.net", s.p.UserPassword); a.status != http.StatusSeeOther {
				t.Errorf("somebody else: %d", a.status)
			}
		}
		for what, b := range map[string]*http.Client{"elsewhere": s.browser(), "on a device that knows them": ownersDevice} {
			if a := s.signIn(b, s.p.UserEmail, s.p.UserPassword); a.status != http.StatusSeeOther {
				t.Errorf("the owner meanwhile, %s: %d", what, a.status)
			}
		}
		s.p.Clock.Advance(time.Hour)
		if a := s.signIn(guesser, s.p.UserEmail, s.p.UserPassword); a.status != http.StatusSeeOther {
			t.Errorf("the guesser's network an hour later: %d", a.status)
		}
	})
}

// TestAttackListOfStolenPasswords checks that a machine that tries many email addresses is
// blocked while other machines can still sign in. The answers must not show which addresses
// have an account.
func TestAttackListOfStolenPasswords(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		s.p.Clock.Freeze(s.p.Clock.Now())
		guesser := s.browserFrom("127.0.0.2")
		known := s.signIn(guesser, s.p.UserEmail, "wrong")
		stopped := 0
		for i := range 40 {
			a := s.signIn(guesser, fmt.Sprintf("person%d@example.org", i), "wrong")
			switch {
			case a.status == http.StatusTooManyRequests:
				stopped++
			case a.status != known.status || strings.ReplaceAll(a.body, fmt.Sprintf("person%d@example.org", i), s.p.UserEmail) != known.body:
				t.Errorf("an unknown address is told from a known one: %d %s", a.status, a.body)
			}
		}
		if stopped < 10 {
			t.Errorf("%d of 40 stopped", stopped)
		}
		if a := s.signIn(s.browserFrom("127.0.0.3"), s.p.UserEmail, s.p.UserPassword); a.status != http.StatusSeeOther {
			t.Errorf("the victim, from elsewhere: %d", a.status)
		}
	})
}

// TestAttackSessionFixation checks that signing in and signing out each make the earlier
// session secret invalid.
func TestAttackSessionFixation(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		s.person("mallory", s.p.OrgID)
		app, err := url.Parse(s.p.AppURL)
		s.must(err)
		planted := func(b *http.Client) *http.Cookie {
			attacker := s.browser()
			s.signIn(attacker, "mallory@example.net", s.p.UserPassword)
			c := attacker.Jar.Cookies(app)[0]
			b.Jar.SetCookies(app, []*http.Cookie{c})
			return c
		}
		t.Run("session of the attacker planted", func(t *testing.T) {
			s := s.on(t)
			b := s.browser()
			c := planted(b)
			s.signIn(b, s.p.UserEmail, s.p.UserPassword)
			s.expectSession(c.Value, "")
			s.expectSession(b.Jar.Cookies(app)[0].Value, s.p.UserEmail)
		})
		t.Run("secret invented by the attacker", func(t *testing.T) {
			s := s.on(t)
			b := s.browser()
			invented := strings.Repeat("A", 52)
			b.Jar.SetCookies(app, []*http.Cookie{{Name: "mailhelm_session", Value: invented}})
			s.signIn(b, s.p.UserEmail, s.p.UserPassword)
			s.expectSession(invented, "")
		})
		t.Run("secret kept over a second sign-in", func(t *testing.T) {
			s := s.on(t)
			b := s.signedIn()
			first := b.Jar.Cookies(app)[0].Value
			s.signIn(b, s.p.UserEmail, s.p.UserPassword)
			s.expectSession(first, "")
		})
		t.Run("secret kept over signing out", func(t *testing.T) {
			s := s.on(t)
			b, elsewhere := s.signedIn(), s.signedIn()
			first := b.Jar.Cookies(app)[0].Value
			s.submit(b, "/logout", url.Values{})
			s.expectSession(first, "")
			second := elsewhere.Jar.Cookies(app)[0].Value
			s.expectSession(second, s.p.UserEmail)
			s.submit(s.signedIn(), "/logout-everywhere", url.Values{})
			s.expectSession(second, "")
		})
		t.Run("two cookies of the name", func(t *testing.T) {
			s := s.on(t)
			good := s.signedIn().Jar.Cookies(app)[0].Value
			a := s.send(s.p.HTTP, http.MethodGet, s.p.AppURL+"/login", "", "Cookie", "mailhelm_session="+good+"; mailhelm_session=x")
			if strings.Contains(a.body, s.p.UserEmail) {
				t.Error("one of two cookies was believed")
			}
		})
	})
}

// expectSession checks that a session secret belongs to the person with this email address;
// "" means that it must be invalid.
func (s *scene) expectSession(secret, email string) {
	s.t.Helper()
	a := s.send(s.p.HTTP, http.MethodGet, s.p.AppURL+"/oauth/authorize?"+query(s.app), "", "Cookie", "mailhelm_session="+secret)
	if email == "" && !strings.HasPrefix(a.header.Get("Location"), "/login?") || email != "" && !strings.Contains(a.body, "<dd>"+email+"</dd>") {
		s.t.Errorf("want the session of %q, got %d %s", email, a.status, a.body)
	}
}

// TestAttackOpenRedirect checks that the next parameter of the sign-in and
// switch-organization forms never redirects to another host.
func TestAttackOpenRedirect(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	victim := s.signedIn()
	for name, next := range map[string]string{
		"two slashes": "//evil.example", "three slashes": "///evil.example", "slash and backslash": `/\evil.example`, "backslashes": `\\evil.example`,
		"https": "https://evil.example/", "https without slashes": "https:evil.example", "own host as user": s.p.AppURL + "@evil.example",
		"own host as prefix": s.p.AppURL + ".evil.example", "javascript": "javascript:alert(1)", "data": "data:text/html,x",
		"slashes encoded": "/%2f%2fevil.example", "slashes encoded twice": "/%252f%252fevil.example", "all encoded": "%2f%2fevil.example",
		"backslash encoded": "/%5cevil.example", "tab": "/\t/evil.example", "line break": "/\n/evil.example", "space in front": " //evil.example",
		"header": "/login\r\nLocation: https://evil.example", "dot segments": "/..//evil.example", "dot": "/.//evil.example", "bare host": "evil.example",
		"fullwidth": "/／evil.example", "NUL": "/\x00/evil.example", "at": "@evil.example",
	} {
		t.Run(name, func(t *testing.T) {
			s := s.on(t)
			signedIn := s.signIn(s.browser(), s.p.UserEmail, s.p.UserPassword, "next", next)
			switched := s.submit(victim, "/switch-org", url.Values{"org_id": {s.p.OrgID}, "next": {next}})
			if to := signedIn.header.Get("Location"); signedIn.status != http.StatusSeeOther || to != "/login" {
				t.Errorf("signing in: %d to %q", signedIn.status, to)
			}
			if to := switched.header.Get("Location"); switched.status != http.StatusSeeOther || to != "/login" {
				t.Errorf("switching: %d to %q", switched.status, to)
			}
			shown := s.get(victim, "/login?"+url.Values{"next": {next}}.Encode())
			if to := shown.header.Get("Location"); strings.Contains(to, "evil") || strings.Contains(shown.body, `href="//evil`) {
				t.Errorf("the page: %d to %q", shown.status, to)
			}
		})
	}
}
