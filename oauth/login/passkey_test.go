package login_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/oauth/login"
)

// device is a virtual authenticator with one passkey of the person.
type device struct {
	site virtualwebauthn.RelyingParty
	auth virtualwebauthn.Authenticator
	key  virtualwebauthn.Credential
}

func (h *house) device() *device {
	return &device{
		site: virtualwebauthn.RelyingParty{ID: "app.test", Name: "Mailhelm", Origin: "https://app.test"},
		auth: virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: []byte(h.user.ID)}),
		key:  newKey(),
	}
}

// newKey returns a passkey credential whose public key has no coordinate with a leading
// zero byte. The virtual authenticator would omit that byte and so make the key invalid.
func newKey() virtualwebauthn.Credential {
	const whole = 77 // length of an encoded public key if both coordinates have all 32 bytes
	for {
		key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if len(key.Key.AttestationData()) == whole {
			return key
		}
	}
}

type question struct {
	Ceremony, Problem string
	Options           json.RawMessage
}

func (p *person) ask(path string, pairs ...string) question {
	p.t.Helper()
	var q question
	a := p.post(path, pairs...)
	if err := json.Unmarshal([]byte(a.body), &q); err != nil {
		p.t.Fatalf("%s: %d %s", path, a.StatusCode, a.body)
	}
	return q
}

// makePasskey returns the device's response to the options for creating a passkey.
func (p *person) makePasskey(d *device, q question) string {
	p.t.Helper()
	options, err := virtualwebauthn.ParseAttestationOptions(string(q.Options))
	p.must(err)
	return virtualwebauthn.CreateAttestationResponse(d.site, d.auth, d.key, *options)
}

// signQuestion returns the device's response to the options for proving a passkey. It
// increments the device's signature counter.
func (p *person) signQuestion(d *device, q question) string {
	p.t.Helper()
	options, err := virtualwebauthn.ParseAssertionOptions(string(q.Options))
	p.must(err)
	d.key.Counter++
	return virtualwebauthn.CreateAssertionResponse(d.site, d.auth, d.key, *options)
}

// add adds the device's passkey through the security page.
func (p *person) add(d *device, name string) answer {
	p.t.Helper()
	token := p.token(p.get(login.SecurityPath).body)
	q := p.ask("/account/security/passkeys/question", "token", token)
	return p.post("/account/security/passkeys", "token", token, "name", name, "ceremony", q.Ceremony, "answer", p.makePasskey(d, q))
}

// signInWith signs in with the device's passkey alone, in another browser.
func (p *person) signInWith(d *device) (*person, answer) {
	p.t.Helper()
	p.now = p.now.Add(time.Minute)
	other := &person{house: p.house}
	q := other.ask("/login/passkey/question")
	return other, other.post("/login/passkey", "ceremony", q.Ceremony, "answer", p.signQuestion(d, q), "next", "/docs")
}

var passkeyID = regexp.MustCompile(`name="id" value="([^"]+)"`)

func TestPasskeySignsInAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p, d := h.newPerson(), h.device()
	before := p.cookies[0].Value
	added := p.add(d, "My <phone>")
	if added.StatusCode != http.StatusOK || len(recovery.FindAllString(added.body, -1)) != 10 || p.cookies[0].Value == before {
		t.Fatalf("adding: %d %s", added.StatusCode, added.body)
	}
	other, a := p.signInWith(d)
	other.expect("passkey", a, http.StatusSeeOther, "/docs")
	v, err := h.sessions.Current(t.Context(), other.cookies[0].Value)
	if err != nil || v.User.ID != h.user.ID || v.Session.SecondFactorAt == nil {
		t.Fatalf("session %+v, %v", v.Session, err)
	}

	token := other.token(other.get(login.SecurityPath).body)
	page := other.get(login.SecurityPath).body
	id := passkeyID.FindStringSubmatch(page)
	if id == nil || !strings.Contains(page, html.EscapeString("My <phone>")) {
		t.Fatalf("the passkey is not listed: %s", page)
	}
	other.expect("rename", other.post("/account/security/passkeys/rename", "token", token, "id", id[1], "name", "Key"), http.StatusSeeOther, login.SecurityPath)
	other.expect("remove", other.post("/account/security/passkeys/remove", "token", token, "id", id[1]), http.StatusSeeOther, login.SecurityPath)
	if _, a := p.signInWith(d); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a removed passkey: %d", a.StatusCode)
	}
}

func TestPasskeyAfterThePassword(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p, d := h.withApp(), h.device()
	p.expect("a second factor", p.add(d, "Key"), http.StatusSeeOther, login.SecurityPath)
	other, location := p.signInAgain("/docs")
	page := other.get(location)
	if !strings.Contains(page.body, `data-passkey="get"`) || !strings.Contains(page.Header.Get("Content-Security-Policy"), "script-src 'self'") {
		t.Errorf("no passkey is offered: %s", page.body)
	}
	token := other.token(page.body)
	q := other.ask("/login/confirm/question", "token", token)
	good := other.signQuestion(d, q)
	proof := func(ceremony string) answer {
		return other.post(login.SecondFactorPath, "token", token, "next", "/docs", "ceremony", ceremony, "answer", good)
	}
	other.expect("of another ceremony", proof(p.ask("/login/confirm/question", "token", p.token(p.get(login.ConfirmPath).body)).Ceremony), http.StatusUnprocessableEntity, "")
	other.expect("passkey", proof(q.Ceremony), http.StatusSeeOther, "/docs")
	if h.currentUser(other.cookies) == "" {
		t.Error("nobody is signed in")
	}
	token = other.token(other.get(login.ConfirmPath).body)
	other.expect("the answer again", other.post(login.ConfirmPath, "token", token, "ceremony", q.Ceremony, "answer", good), http.StatusUnprocessableEntity, "")
}

// TestPasskeyRefusals checks that a passkey is refused if its response has a wrong origin,
// site, person, key, id or counter, or if the user was not verified.
func TestPasskeyRefusals(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(h *house, d *device){
		"another origin":   func(_ *house, d *device) { d.site.Origin = "https://app.test.evil.test" },
		"another site":     func(_ *house, d *device) { d.site.ID = "evil.test" },
		"nobody verified":  func(_ *house, d *device) { d.auth.Options.UserNotVerified = true },
		"nobody present":   func(_ *house, d *device) { d.auth.Options.UserNotPresent = true },
		"another person":   func(_ *house, d *device) { d.auth.Options.UserHandle = []byte("someone") },
		"another key":      func(_ *house, d *device) { d.key.Key = newKey().Key },
		"unknown passkey":  func(_ *house, d *device) { d.key.ID = []byte("unknown") },
		"the count behind": func(_ *house, d *device) { d.key.Counter = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "https://app.test")
			p, d := h.newPerson(), h.device()
			d.key.Counter = 5
			p.add(d, "Key")
			if _, a := p.signInWith(d); a.StatusCode != http.StatusSeeOther {
				t.Fatalf("before: %d %s", a.StatusCode, a.body)
			}
			spoil(h, d)
			other, a := p.signInWith(d)
			if a.StatusCode != http.StatusUnprocessableEntity || len(other.cookies) != 0 {
				t.Errorf("%d with %d cookies", a.StatusCode, len(other.cookies))
			}
		})
	}
}

func TestCopiedPasskeyStaysRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p, d := h.newPerson(), h.device()
	d.key.Counter = 5
	p.add(d, "Key")
	d.key.Counter = 2
	p.signInWith(d)
	d.key.Counter = 100
	if _, a := p.signInWith(d); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a suspected copy: %d", a.StatusCode)
	}
	events, err := h.db.Audit().FindAudit(t.Context(), h.orgs[0].ID, access.AuditFilter{Limit: 10})
	h.must(err)
	suspected := 0
	for _, e := range events {
		if e.Action == "user.passkey_copy_suspected" {
			suspected++
		}
	}
	if suspected != 2 {
		t.Errorf("%d lines in the audit log", suspected)
	}
}

func TestPasskeyQuestions(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p, d := h.newPerson(), h.device()
	p.add(d, "Key")
	nobody := &person{house: h}
	if q := nobody.ask("/account/security/passkeys/question"); q.Ceremony != "" || q.Problem == "" {
		t.Error("a question for nobody")
	}
	late := nobody.ask("/login/passkey/question")
	h.now = h.now.Add(5 * time.Minute)
	if a := nobody.post("/login/passkey", "ceremony", late.Ceremony, "answer", p.signQuestion(d, late)); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a late answer: %d", a.StatusCode)
	}
	for _, garbage := range []string{"", "{}", "null", `{"id":"AA","rawId":"AA","type":"public-key","response":{}}`, strings.Repeat("[", 10_000)} {
		q := nobody.ask("/login/passkey/question")
		if a := nobody.post("/login/passkey", "ceremony", q.Ceremony, "answer", garbage); a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%.20s: %d", garbage, a.StatusCode)
		}
	}
	limited := false
	for range 40 {
		limited = limited || nobody.ask("/login/passkey/question").Ceremony == ""
	}
	if !limited {
		t.Error("questions are not limited")
	}
}
