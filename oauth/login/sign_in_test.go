package login_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestNextRedirectsToThisHostOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	good := []string{"/oauth/authorize?client_id=oc_live_a&redirect_uri=https%3A%2F%2Fclient.test%2Fcb&state=%0A//x", "/", "/docs?a=\\", "/a/b"}
	bad := []string{
		"//evil.test", "///evil.test", "/\\evil.test", "\\\\evil.test", "/\t/evil.test", "/\n/evil.test", "\t//evil.test", " //evil.test",
		"https://evil.test", "https:evil.test", "HTTPS://evil.test", "javascript:alert(1)", "data:text/html,x", "evil.test", "@evil.test",
		"/%5cevil.test", "/%2f/evil.test", "/%2fevil.test", "/.//evil.test", "/..//evil.test", "/a/../..//evil.test", "/a//evil.test",
		"/%09/evil.test", "/%0d%0aSet-Cookie:x=y", "/a\r\nSet-Cookie: x=y", "/\x00", "/é", "/%C3%A9", "/a#b", "/%", "/%zz", "/./a", "/a/",
		"/%252f%252fevil.test", "?a", "#a", "", "/" + strings.Repeat("a", 20_000),
	}
	for _, next := range append(good, bad...) {
		want := "/login"
		for _, allowed := range good {
			if next == allowed {
				want = next
			}
		}
		if got := h.signIn(next).Header.Get("Location"); got != want {
			t.Errorf("sign in with next %q leads to %q", next, got)
		}
	}
	cookies := h.signIn("").cookies()
	for _, next := range bad {
		r := h.send("/login?"+url.Values{"next": {next}}.Encode(), nil, cookies)
		if r.StatusCode != http.StatusOK || r.Header.Get("Location") != "" {
			t.Errorf("already signed in, next %q leads to %q", next, r.Header.Get("Location"))
		}
		r = h.send("/switch-org", url.Values{"next": {next}, "org_id": {h.orgs[0].ID}}, cookies)
		if got := r.Header.Get("Location"); got != "/login" {
			t.Errorf("switch with next %q leads to %q", next, got)
		}
	}
}

func TestNextSurvivesAWrongPassword(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	r := h.send("/login", url.Values{"email": {`"><script>`}, "password": {"wrong"}, "next": {`/a?x="><script>`}}, nil)
	page := r.body
	if r.StatusCode != http.StatusUnauthorized || len(r.cookies()) != 0 {
		t.Errorf("status %d", r.StatusCode)
	}
	if !strings.Contains(page, `name="next" value="/a?x=&#34;&gt;&lt;script&gt;"`) || !strings.Contains(page, `role="alert"`) {
		t.Error("the page has lost where it leads, or says nothing")
	}
	if strings.Count(page, "<script") != strings.Count(page, `<script src="/login/passkey.js">`) || strings.Contains(page, "wrong\"") {
		t.Error("the page repeats what was typed as markup, or the password")
	}
}

func TestBruteForce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	const tries = 40
	answers := map[int]int{}
	for i := range tries {
		r := h.send("/login", url.Values{"email": {email}, "password": {fmt.Sprint("guess", i)}}, nil, "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i))
		answers[r.StatusCode]++
		if r.StatusCode == http.StatusTooManyRequests && r.Header.Get("Retry-After") == "" {
			t.Fatal("429 without Retry-After")
		}
	}
	if answers[http.StatusUnauthorized] != 10 || answers[http.StatusTooManyRequests] != tries-10 {
		t.Errorf("answers by status: %v", answers)
	}
	right := url.Values{"email": {email}, "password": {password}}
	if r := h.send("/login", right, nil); r.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the right password during the wait: %d", r.StatusCode)
	}
}

// TestClientsByNetwork checks that sign-in attempts from all IPv6 addresses of one network
// count together. One household's network has 2^64 addresses.
func TestClientsByNetwork(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	last := 0
	for i := range 31 {
		form := url.Values{"email": {fmt.Sprintf("p%d@example.org", i)}, "password": {"x"}}
		r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = fmt.Sprintf("[2001:db8::%x]:1234", i+1)
		w := httptest.NewRecorder()
		h.routes["/login"].ServeHTTP(w, r)
		last = w.Code
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("attempt 31 from one network: %d", last)
	}
}

func TestSigningOutAndSwitching(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	here, there := h.signIn("").cookies(), h.signIn("").cookies()
	h.send("/switch-org", url.Values{"org_id": {h.orgs[1].ID}}, here)
	if page := h.currentUser(here); !strings.Contains(page, "<dd>Zeta</dd>") || !strings.Contains(page, "&lt;b&gt;Owner") {
		t.Errorf("after switching: %s", page)
	}
	if r := h.send("/switch-org", url.Values{"org_id": {"another"}}, here); r.StatusCode != http.StatusNotFound {
		t.Errorf("switch to a foreign organization: %d", r.StatusCode)
	}
	r := h.send("/logout", url.Values{"next": {"/a?b=c"}}, here)
	if got := r.Header.Get("Location"); r.StatusCode != http.StatusSeeOther || got != "/login?next=%2Fa%3Fb%3Dc" {
		t.Errorf("signed out: %d to %q", r.StatusCode, got)
	}
	if cleared := r.cookies(); len(cleared) != 1 || cleared[0].MaxAge >= 0 || !cleared[0].Secure {
		t.Errorf("cookie after signing out: %v", cleared)
	}
	if h.currentUser(here) != "" || h.currentUser(there) == "" {
		t.Error("signing out ends one session")
	}
	third := h.signIn("").cookies()
	h.send("/logout-everywhere", url.Values{}, third)
	if h.currentUser(there) != "" || h.currentUser(third) != "" {
		t.Error("a session outlives signing out everywhere")
	}
}

func TestNothingSecretIsLogged(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	secret := h.signIn("").cookies()[0].Value
	h.send("/login", url.Values{"email": {email}, "password": {password + "x"}}, nil)
	h.send("/logout", url.Values{}, []*http.Cookie{{Name: "__Host-mailhelm_session", Value: secret}})
	text := h.logged.String()
	if !strings.Contains(text, `"of":"sign-in"`) {
		t.Fatal("the log says nothing, so its silence about secrets shows nothing")
	}
	for _, canary := range []string{password, email, secret} {
		if strings.Contains(text, canary) {
			t.Errorf("the log holds %q", canary)
		}
	}
}
