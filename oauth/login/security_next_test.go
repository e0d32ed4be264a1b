package login_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/pquerna/otp/totp"
)

// TestSettingUpLeadsOn checks a person who was sent to the security page to set up a second
// factor. The person must get a link back to the original page, also after a wrong code and
// after signing in again.
func TestSettingUpLeadsOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p := h.newPerson()
	const going = "/oauth/authorize?state=a%26b"
	here := login.SecurityPath + "?" + url.Values{"next": {going}}.Encode()
	field := `name="next" value="` + html.EscapeString(going) + `"`

	h.now = h.now.Add(11 * time.Minute)
	late := p.post("/account/security/app", "token", p.token(p.get(here).body), "next", going)
	p.expect("late", late, http.StatusSeeOther, "/login/confirm?"+url.Values{"next": {here}}.Encode())
	p.expect("the password again", p.post("/login", "email", email, "password", password, "next", here), http.StatusSeeOther, here)

	page := p.get(here)
	if strings.Count(page.body, field) != 2 {
		t.Fatalf("the forms for an app and a passkey do not carry %s: %s", field, page.body)
	}
	page = p.post("/account/security/app", "token", p.token(page.body), "next", going)
	p.secret = strings.ReplaceAll(appSecret.FindStringSubmatch(page.body)[1], " ", "")
	wrong := p.post("/account/security/app/confirm", "token", p.token(page.body), "next", going, "code", "000000")
	if !strings.Contains(wrong.body, field) || !strings.Contains(wrong.body, `href="`+html.EscapeString(here)+`"`) {
		t.Errorf("a wrong code loses where the person was going: %s", wrong.body)
	}
	code, err := totp.GenerateCode(p.secret, h.now)
	h.must(err)
	codes := p.post("/account/security/app/confirm", "token", p.token(page.body), "next", going, "code", code)
	if !strings.Contains(codes.body, `href="`+html.EscapeString(going)+`"`) {
		t.Errorf("the recovery codes do not lead on: %s", codes.body)
	}
	if body := p.get(here).body; !strings.Contains(body, `href="`+html.EscapeString(going)+`"`) {
		t.Errorf("the page with a factor does not lead on: %s", body)
	}
	p.expect("a change", p.post("/account/security/app/remove", "token", p.token(p.get(here).body), "next", going), http.StatusSeeOther, here)
}

// TestSecuritySetupIgnoresForeignNext checks that the security page ignores the parameter
// "next" if its value is not a path of this host.
func TestSecuritySetupIgnoresForeignNext(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p := h.newPerson()
	for _, next := range []string{"https://evil.example/x", "//evil.example/x", "/\\evil.example/x", "javascript:alert(1)", "/a/../../evil.example"} {
		page := p.get(login.SecurityPath + "?" + url.Values{"next": {next}}.Encode())
		if strings.Contains(page.body, "evil.example") || strings.Contains(page.body, "alert(1)") {
			t.Errorf("the page carries %q", next)
		}
		page = p.post("/account/security/app", "token", p.token(page.body), "next", next)
		if page.StatusCode != http.StatusOK || strings.Contains(page.body, "evil.example") || strings.Contains(page.body, "alert(1)") {
			t.Errorf("the form carries %q", next)
		}
	}
}
