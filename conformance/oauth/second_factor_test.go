package oauth_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/pquerna/otp/totp"
)

// sceneWithSecondFactor is a scene whose victim has an authenticator app as second factor.
type sceneWithSecondFactor struct {
	*scene
	secret string
	codes  []string
	first  *http.Client // the browser in which the authenticator app was set up
}

var (
	tokenMember = regexp.MustCompile(`name="token" value="([^"]+)"`)
	shownKey    = regexp.MustCompile(`<code class="key">([A-Z2-7 ]+)</code>`)
	shownCode   = regexp.MustCompile(`<li><code>([A-Z2-7-]+)</code></li>`)
)

// fill reads the form token from page and posts a form with it to path. pairs are the other
// fields, as names and values.
func (s *scene) fill(b *http.Client, page, path string, pairs ...string) answer {
	s.t.Helper()
	found := tokenMember.FindStringSubmatch(s.get(b, page).body)
	if found == nil {
		s.t.Fatalf("%s has no form token", page)
	}
	values := url.Values{"token": {html.UnescapeString(found[1])}}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return s.submit(b, path, values)
}

// guard stops the clock and sets up an authenticator app for the victim on the security
// page. The returned scene has the app's secret and the recovery codes.
func (s *scene) guard() *sceneWithSecondFactor {
	s.t.Helper()
	s.p.Clock.Freeze(s.p.Clock.Now())
	g := &sceneWithSecondFactor{scene: s, first: s.signedIn()}
	page := s.fill(g.first, "/account/security", "/account/security/app")
	key := shownKey.FindStringSubmatch(page.body)
	if key == nil {
		s.t.Fatalf("no key: %d %s", page.status, page.body)
	}
	g.secret = strings.ReplaceAll(key[1], " ", "")
	done := s.fill(g.first, "/account/security", "/account/security/app/confirm", "code", g.code(0))
	for _, m := range shownCode.FindAllStringSubmatch(done.body, -1) {
		g.codes = append(g.codes, m[1])
	}
	if done.status != http.StatusOK || len(g.codes) != 10 {
		s.t.Fatalf("confirm: %d %s", done.status, done.body)
	}
	s.p.Clock.Advance(time.Minute)
	return g
}

func (g *sceneWithSecondFactor) code(steps int) string {
	g.t.Helper()
	code, err := totp.GenerateCode(g.secret, g.p.Clock.Now().Add(time.Duration(steps)*30*time.Second))
	g.must(err)
	return code
}

// half returns a browser in which the victim has entered the right password but not yet the
// second factor.
func (g *sceneWithSecondFactor) half() *http.Client {
	g.t.Helper()
	b := g.browser()
	a := g.signIn(b, g.p.UserEmail, g.p.UserPassword)
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/login/second-factor" {
		g.t.Fatalf("the password: %d to %s", a.status, a.header.Get("Location"))
	}
	return b
}

func (g *sceneWithSecondFactor) prove(b *http.Client, code string) answer {
	g.t.Helper()
	return g.fill(b, "/login/second-factor", "/login/second-factor", "code", code, "next", "/docs")
}

// wantStatus fails the test unless the answer has the status want.
func (s *scene) wantStatus(what string, a answer, want int) {
	s.t.Helper()
	if a.status != want {
		s.t.Errorf("%s: %d, want %d: %s", what, a.status, want, a.body)
	}
}

func (s *scene) cookie(b *http.Client) string {
	s.t.Helper()
	u, err := url.Parse(s.p.AppURL)
	s.must(err)
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == "mailhelm_session" {
			return c.Value
		}
	}
	s.t.Fatal("no session")
	return ""
}

// in reports whether the browser is signed in.
func (s *scene) in(b *http.Client) bool {
	s.t.Helper()
	return strings.Contains(s.get(b, "/login").body, "You are signed in")
}

func TestSecondFactorCodes(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		g := s.guard()
		b := g.half()
		before := s.cookie(b)
		s.wantStatus("a wrong code", g.prove(b, "000000"), http.StatusUnprocessableEntity)
		s.wantStatus("a code", g.prove(b, g.code(0)), http.StatusSeeOther)
		if s.cookie(b) == before || !s.in(b) {
			t.Error("the secret of the session has stayed")
		}
		again := g.half()
		s.wantStatus("the code again", g.prove(again, g.code(0)), http.StatusUnprocessableEntity)
		s.wantStatus("the one before", g.prove(again, g.code(-1)), http.StatusUnprocessableEntity)
		s.wantStatus("the next", g.prove(again, g.code(1)), http.StatusSeeOther)
		s.p.Clock.Advance(2 * time.Minute)
		s.wantStatus("the previous step", g.prove(g.half(), g.code(-1)), http.StatusSeeOther)
		s.wantStatus("two steps behind", g.prove(g.half(), g.code(-2)), http.StatusUnprocessableEntity)
		s.wantStatus("two steps ahead", g.prove(g.half(), g.code(2)), http.StatusUnprocessableEntity)
		s.wantStatus("a recovery code", g.prove(g.half(), g.codes[0]), http.StatusSeeOther)
		s.wantStatus("a recovery code again", g.prove(g.half(), g.codes[0]), http.StatusUnprocessableEntity)
	})
}

func TestAwaitingSessionGetsNothing(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		g := s.guard()
		b := g.half()
		for _, path := range []string{"/account/security", "/dashboard", "/oauth/authorize?" + query(s.app)} {
			a := s.get(b, path)
			if location := a.header.Get("Location"); a.status != http.StatusSeeOther || !strings.HasPrefix(location, "/login?next=") {
				t.Errorf("%s: %d to %q", path, a.status, location)
			}
		}
		for path, values := range map[string]url.Values{
			"/switch-org": {"org_id": {s.p.OrgID}}, "/account/security/app": {}, "/account/security/recovery-codes": {},
			"/oauth/authorize": {"request": {query(s.app)}, "org_id": {s.p.OrgID}, "decision": {"approve"}, "scope": {"api.lists.view"}},
		} {
			if a := s.submit(b, path, values); !strings.HasPrefix(a.header.Get("Location"), "/login") {
				t.Errorf("%s: %d to %q", path, a.status, a.header.Get("Location"))
			}
		}
		s.submit(b, "/logout-everywhere", url.Values{})
		if !s.in(g.first) {
			t.Error("the password alone has ended other sessions")
		}
		s.wantStatus("without a token", s.submit(g.first, "/account/security/app/remove", url.Values{}), http.StatusForbidden)
		late := g.half()
		s.p.Clock.Advance(10 * time.Minute)
		if a := s.get(late, "/login/second-factor"); a.header.Get("Location") != "/login" {
			t.Errorf("after ten minutes: %d to %q", a.status, a.header.Get("Location"))
		}
	})
}

func TestGuessingCodesIsThrottledAcrossSessions(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		g := s.guard()
		for i, guess := range []string{"000000", "111111", "222222", "AAAAAAAAAAAAAAAA", "333333"} {
			b := g.half()
			if i == 1 {
				b = g.first
			}
			page := map[bool]string{true: "/login/confirm", false: "/login/second-factor"}[b == g.first]
			s.wantStatus("a guess", s.fill(b, page, page, "code", guess), http.StatusUnprocessableEntity)
		}
		a := g.prove(g.half(), g.code(0))
		s.wantStatus("the right code", a, http.StatusTooManyRequests)
		if a.header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
		s.wantStatus("a recovery code", g.prove(g.half(), g.codes[0]), http.StatusTooManyRequests)
		s.p.Clock.Advance(5*time.Minute + time.Second)
		s.wantStatus("five minutes later", g.prove(g.half(), g.code(0)), http.StatusSeeOther)
	})
}

// TestOrganizationRequiresSecondFactor checks that a member without a second factor is sent
// to set one up in an organization that requires it. In other organizations that member
// needs no second factor.
func TestOrganizationRequiresSecondFactor(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		s.p.Clock.Freeze(s.p.Clock.Now())
		strict := core.Org{ID: core.NewID(), Name: "Strict", Slug: "strict", Tier: "team", RetentionDays: 90, RequireSecondFactor: true}
		s.must(s.p.DB.Orgs().InsertOrg(t.Context(), strict))
		s.must(s.p.DB.Orgs().SetOrgSettings(t.Context(), strict))
		s.must(s.p.DB.Members().AddMember(t.Context(), strict.ID, s.victim.ID, "owner"))
		client := s.application(strict.ID, "", "http://127.0.0.1/cb")
		ask := "/oauth/authorize?" + query(client)
		leads := func(what string, b *http.Client, path, want string) {
			t.Helper()
			if got := s.get(b, path).header.Get("Location"); got != want {
				t.Errorf("%s: %s leads to %q, want %q", what, path, got, want)
			}
		}

		plain := s.signedIn()
		leads("elsewhere", plain, "/dashboard", "")
		s.submit(plain, "/switch-org", url.Values{"org_id": {strict.ID}})
		leads("after switching", plain, "/dashboard", "/account/security?next=%2Fdashboard")
		leads("after switching", plain, ask, "/account/security?"+url.Values{"next": {ask}}.Encode())
		if page := s.get(plain, "/account/security").body; !strings.Contains(page, "Strict requires a second factor") {
			t.Errorf("no notice: %s", page)
		}
		g := s.guard()
		leads("a session of the password alone has ended", plain, ask, "/login?"+url.Values{"next": {ask}}.Encode())
		b := g.half()
		s.wantStatus("the proof", g.prove(b, g.code(0)), http.StatusSeeOther)
		s.submit(b, "/switch-org", url.Values{"org_id": {strict.ID}})
		leads("after the proof", b, "/dashboard", "")
		s.wantStatus("after the proof", s.get(b, ask), http.StatusOK)
	})
}

// passkeyOf returns the product as relying party (WebAuthn), a virtual authenticator of the
// victim, and a new passkey credential for it.
func (s *scene) passkeyOf() (virtualwebauthn.RelyingParty, virtualwebauthn.Authenticator, virtualwebauthn.Credential) {
	site := virtualwebauthn.RelyingParty{ID: "localhost", Name: "Mailhelm", Origin: s.p.AppURL}
	holder := virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: []byte(s.victim.ID)})
	return site, holder, newKey()
}

// newKey returns a passkey credential whose public key has two coordinates of full 32
// bytes. The virtual authenticator drops leading zeros, which makes other keys invalid.
func newKey() virtualwebauthn.Credential {
	const whole = 77 // the length of an encoded public key (COSE) if both coordinates have all 32 bytes
	for {
		key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if len(key.Key.AttestationData()) == whole {
			return key
		}
	}
}

func TestPasskeyOverHTTP(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		b := s.signedIn()
		site, holder, key := s.passkeyOf()
		var asked struct {
			Ceremony string
			Options  json.RawMessage
		}
		s.must(json.Unmarshal([]byte(s.fill(b, "/account/security", "/account/security/passkeys/question").body), &asked))
		creation, err := virtualwebauthn.ParseAttestationOptions(string(asked.Options))
		s.must(err)
		a := s.fill(b, "/account/security", "/account/security/passkeys", "name", "Phone", "ceremony", asked.Ceremony,
			"answer", virtualwebauthn.CreateAttestationResponse(site, holder, key, *creation))
		s.wantStatus("adding", a, http.StatusOK)

		other := s.browser()
		s.must(json.Unmarshal([]byte(s.submit(other, "/login/passkey/question", url.Values{}).body), &asked))
		request, err := virtualwebauthn.ParseAssertionOptions(string(asked.Options))
		s.must(err)
		signed := url.Values{"ceremony": {asked.Ceremony}, "answer": {virtualwebauthn.CreateAssertionResponse(site, holder, key, *request)}}
		s.wantStatus("signing in", s.submit(other, "/login/passkey", signed), http.StatusSeeOther)
		if !s.in(other) {
			t.Error("the passkey has not signed in")
		}
		s.wantStatus("the answer again", s.submit(s.browser(), "/login/passkey", signed), http.StatusUnprocessableEntity)
	})
}

func TestLogHoldsNoSecondFactor(t *testing.T) {
	t.Parallel()
	log := &lockedBuffer{}
	s := newScene(t, product.Start(t, product.Options{Log: log}))
	g := s.guard()
	b := g.half()
	used := g.code(0)
	g.prove(b, g.codes[1]+"A")
	g.prove(b, used)
	g.prove(g.half(), g.codes[0])
	text := log.String()
	if !strings.Contains(text, `"of":"second factor"`) {
		t.Error("nothing was logged, so its silence shows nothing")
	}
	for _, canary := range []string{g.secret, g.codes[0], g.codes[1], strings.ReplaceAll(g.codes[0], "-", ""), `"` + used, s.cookie(b), s.p.UserEmail} {
		if strings.Contains(text, canary) {
			t.Errorf("the log holds %q", canary)
		}
	}
}
