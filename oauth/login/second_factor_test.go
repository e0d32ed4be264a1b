package login_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/pquerna/otp/totp"
)

// person is a user with a browser, and optionally with an authenticator app.
type person struct {
	*house
	cookies []*http.Cookie
	secret  string // of the app
	codes   []string
}

// get and post request a path and keep the cookies that the response sets. pairs are the
// names and values of the form's fields.
func (p *person) get(path string) answer { return p.keep(p.send(path, nil, p.cookies)) }

func (p *person) post(path string, pairs ...string) answer {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return p.keep(p.send(path, form, p.cookies))
}

func (p *person) keep(a answer) answer {
	p.cookies = mergeCookies(p.cookies, a.cookies())
	return a
}

var (
	tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)
	appSecret  = regexp.MustCompile(`<code class="key">([A-Z2-7 ]+)</code>`)
	recovery   = regexp.MustCompile(`<li><code>([A-Z2-7-]+)</code></li>`)
)

// token returns the form token on a page. It fails the test if there is none.
func (p *person) token(page string) string {
	p.t.Helper()
	found := tokenField.FindStringSubmatch(page)
	if found == nil {
		p.t.Fatalf("no form token in %s", page)
	}
	return html.UnescapeString(found[1])
}

func (p *person) code(steps int) string {
	p.t.Helper()
	code, err := totp.GenerateCode(p.secret, p.now.Add(time.Duration(steps)*30*time.Second))
	p.must(err)
	return code
}

// expect fails the test if the response has another status or another Location header. If
// location is "", the response must have no Location header.
func (p *person) expect(what string, a answer, status int, location string) {
	p.t.Helper()
	if a.StatusCode != status || a.Header.Get("Location") != location {
		p.t.Fatalf("%s: %d to %q, want %d to %q: %s", what, a.StatusCode, a.Header.Get("Location"), status, location, a.body)
	}
}

func (h *house) newPerson() *person {
	h.t.Helper()
	return &person{house: h, cookies: h.signIn("").cookies()}
}

// withApp returns a person who has set up an authenticator app through the pages.
func (h *house) withApp() *person {
	h.t.Helper()
	p := h.newPerson()
	before := p.cookies[0].Value
	page := p.post("/account/security/app", "token", p.token(p.get(login.SecurityPath).body))
	found := appSecret.FindStringSubmatch(page.body)
	if page.StatusCode != http.StatusOK || found == nil || !strings.Contains(page.body, `<path d="M4 4h1v1h-1z`) {
		h.t.Fatalf("no key: %d %s", page.StatusCode, page.body)
	}
	p.secret = strings.ReplaceAll(found[1], " ", "")
	wrong := p.post("/account/security/app/confirm", "token", p.token(page.body), "code", "000000")
	if wrong.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(wrong.body, found[1]) {
		h.t.Fatalf("a wrong first code: %d", wrong.StatusCode)
	}
	done := p.post("/account/security/app/confirm", "token", p.token(page.body), "code", p.code(0))
	for _, m := range recovery.FindAllStringSubmatch(done.body, -1) {
		p.codes = append(p.codes, m[1])
	}
	if done.StatusCode != http.StatusOK || len(p.codes) != 10 || p.cookies[0].Value == before {
		h.t.Fatalf("%d with %d recovery codes: %s", done.StatusCode, len(p.codes), done.body)
	}
	return p
}

// signInAgain enters the person's password in another browser. It returns that browser and
// the path of the page that asks for the second factor.
func (p *person) signInAgain(next string) (*person, string) {
	p.t.Helper()
	p.now = p.now.Add(time.Minute)
	other := &person{house: p.house, secret: p.secret, codes: p.codes}
	a := other.post("/login", "email", email, "password", password, "next", next)
	location := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(location, login.SecondFactorPath) {
		p.t.Fatalf("the password leads to %q", location)
	}
	return other, location
}

func TestSecondStep(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p, location := h.withApp().signInAgain("/docs?a=b")
	page := p.get(location)
	if page.StatusCode != http.StatusOK || !strings.Contains(page.body, "Second factor") {
		t.Fatalf("%d %s", page.StatusCode, page.body)
	}
	between := p.cookies
	if h.currentUser(between) != "" {
		t.Error("the password alone signs in")
	}
	for path, want := range map[string]string{
		login.SecurityPath: "/login?next=%2Faccount%2Fsecurity", "/login": "",
	} {
		if got := p.get(path).Header.Get("Location"); got != want {
			t.Errorf("%s leads to %q", path, got)
		}
	}
	if got := p.post("/switch-org", "org_id", h.orgs[1].ID).Header.Get("Location"); got != "/login" {
		t.Errorf("switching leads to %q", got)
	}
	token := p.token(page.body)
	p.expect("without the token", p.post(login.SecondFactorPath, "code", p.code(0)), http.StatusForbidden, "")
	wrong := p.post(login.SecondFactorPath, "token", token, "code", "000000", "next", "/docs?a=b")
	if wrong.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(wrong.body, `name="next" value="/docs?a=b"`) {
		t.Errorf("a wrong code: %d %s", wrong.StatusCode, wrong.body)
	}
	p.expect("a code", p.post(login.SecondFactorPath, "token", token, "code", p.code(0), "next", "/docs?a=b"), http.StatusSeeOther, "/docs?a=b")
	if h.currentUser(between) != "" || h.currentUser(p.cookies) == "" {
		t.Error("the second factor has not changed the session's secret")
	}
	p.expect("when done", p.get(login.SecondFactorPath+"?next=/docs"), http.StatusSeeOther, "/docs")

	back, location := p.signInAgain("")
	p.expect("a recovery code", back.post(login.SecondFactorPath, "token", back.token(back.get(location).body), "code", p.codes[2]), http.StatusSeeOther, "/login")
	if !strings.Contains(back.get(login.SecurityPath).body, "You have 9 unused recovery codes") {
		t.Error("the page does not count the recovery codes")
	}
}

func TestSecondFactorFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p := h.withApp()
	token := p.token(p.get(login.SecurityPath).body)
	for path := range h.routes {
		if !strings.HasPrefix(path, login.SecurityPath) && path != login.ConfirmPath && path != login.SecondFactorPath && !strings.HasPrefix(path, "/login/passkey") ||
			path == login.ScriptPath {
			continue
		}
		r := h.send(path, url.Values{"token": {token}, "code": {p.code(1)}}, p.cookies, "Sec-Fetch-Site", "cross-site")
		if r.StatusCode != http.StatusForbidden || len(r.cookies()) != 0 {
			t.Errorf("%s from another site: %d", path, r.StatusCode)
		}
		if strings.HasPrefix(path, login.SecurityPath+"/") && !strings.HasSuffix(path, "/question") {
			if r := h.send(path, url.Values{"token": {"x"}}, p.cookies); r.StatusCode != http.StatusForbidden {
				t.Errorf("%s without its token: %d", path, r.StatusCode)
			}
		}
	}
	if !strings.Contains(p.get(login.SecurityPath).body, "You have 10 unused recovery codes") {
		t.Error("a form of another site did something")
	}
}

func TestChangingFactorsAsksAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p := h.withApp()
	h.now = h.now.Add(11 * time.Minute)
	remove := func() answer {
		return p.post("/account/security/app/remove", "token", p.token(p.get(login.SecurityPath).body))
	}
	p.expect("removing late", remove(), http.StatusSeeOther, "/login/confirm?next=%2Faccount%2Fsecurity")
	page := p.get("/login/confirm?next=%2Faccount%2Fsecurity")
	p.expect("proof", p.post(login.ConfirmPath, "token", p.token(page.body), "code", p.code(0), "next", login.SecurityPath), http.StatusSeeOther, login.SecurityPath)
	p.expect("removing", remove(), http.StatusSeeOther, login.SecurityPath)
	if body := p.get(login.SecurityPath).body; strings.Contains(body, "recovery codes") || !strings.Contains(body, "Set up authenticator app") {
		t.Errorf("after removing: %s", body)
	}

	h.now = h.now.Add(11 * time.Minute)
	p.expect("a first factor late", p.post("/account/security/app", "token", p.token(p.get(login.SecurityPath).body)),
		http.StatusSeeOther, "/login/confirm?next=%2Faccount%2Fsecurity")
	p.post("/switch-org", "org_id", h.orgs[1].ID)
	if page := p.get("/login/confirm?next=%2Faccount%2Fsecurity"); !strings.Contains(page.body, `name="password"`) {
		t.Fatalf("without a factor: %s", page.body)
	}
	p.expect("the password again", p.post("/login", "email", email, "password", password, "next", login.SecurityPath), http.StatusSeeOther, login.SecurityPath)
	if page := h.currentUser(p.cookies); !strings.Contains(page, "<dd>Zeta</dd>") {
		t.Errorf("the password again has left the organization: %s", page)
	}
	if page := p.post("/account/security/app", "token", p.token(p.get(login.SecurityPath).body)); page.StatusCode != http.StatusOK {
		t.Errorf("after the password: %d", page.StatusCode)
	}
}

func TestLogHoldsNoCodes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p, location := h.withApp().signInAgain("")
	token := p.token(p.get(location).body)
	p.post(login.SecondFactorPath, "token", token, "code", p.codes[0]+"X")
	p.post(login.SecondFactorPath, "token", token, "code", p.codes[1])
	p.post(login.SecondFactorPath, "token", p.token(p.get(login.ConfirmPath).body), "code", p.code(3))
	text := h.logged.String()
	if strings.Count(text, `"of":"second factor"`) == 0 {
		t.Error("nothing was logged, so its silence shows nothing")
	}
	for _, canary := range []string{p.secret, p.codes[0], p.codes[1], p.code(3), p.cookies[0].Value, token, email} {
		if strings.Contains(text, canary) {
			t.Errorf("the log holds %q", canary)
		}
	}
}

// TestTheLastFactorHasNoButtonWhereItIsRequired checks that the last second factor cannot
// be removed if one of the person's organizations requires one. The security page must
// explain this and have no button for the removal.
func TestTheLastFactorHasNoButtonWhereItIsRequired(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p := h.withApp()
	page := p.get(login.SecurityPath).body
	token := p.token(page)
	if !strings.Contains(page, "/app/remove") {
		t.Fatalf("nothing removes the app: %s", page)
	}
	strict := h.orgs[1] // an organization of the person that is not the session's organization
	strict.RequireSecondFactor = true
	h.must(h.db.Orgs().SetOrgSettings(t.Context(), strict))
	const says = "This is your last second factor, and one is required by Zeta. Add another factor first"
	if page := p.get(login.SecurityPath).body; strings.Contains(page, "/app/remove") || !strings.Contains(page, says) {
		t.Errorf("the page reads %s", page)
	}
	refused := p.post("/account/security/app/remove", "token", token)
	if refused.StatusCode != http.StatusConflict || !strings.Contains(refused.body, says) {
		t.Errorf("removed by an old page: %d %s", refused.StatusCode, refused.body)
	}
}
