package dashboard_test

import (
	"bytes"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const (
	newPassword   = "seven kettles on a hill"
	newerPassword = "nine kettles on a hill"
)

// resetLink returns the path of the password reset link in the next mail. It fails the test
// unless the mail is well-formed and addressed to the product's owner.
func resetLink(t *testing.T, p *product.Product) string {
	t.Helper()
	m := p.Mailbox.Next()
	h := m.Header
	if m.From != "mailhelm@example.com" || strings.Join(m.To, ",") != p.UserEmail || h.Get("To") != "<"+p.UserEmail+">" ||
		h.Get("From") != `"Mailhelm" <mailhelm@example.com>` || h.Get("Subject") != "Set a new password for Mailhelm" ||
		h.Get("Auto-Submitted") != "auto-generated" || !regexp.MustCompile(`^<[^<>@ ]+@example\.com>$`).MatchString(h.Get("Message-Id")) {
		t.Errorf("the mail:\n%s", m.Raw)
	}
	if at, err := mail.ParseDate(h.Get("Date")); err != nil || at.Sub(p.Clock.Now()).Abs() > time.Minute {
		t.Errorf("Date %q, %v", h.Get("Date"), err)
	}
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(p.AppURL) + `(/login/new-password\?token=[A-Z2-7]{52})$`).FindStringSubmatch(m.Text)
	if found == nil || !strings.Contains(m.HTML, `<a href="`+p.AppURL+found[1]+`">`) || strings.Count(m.Text, "://") != 1 {
		t.Fatalf("no link in the mail:\n%s", m.Raw)
	}
	return found[1]
}

// wantNotice fails the test unless the next mail goes to the owner, has this subject and
// links to the security page.
func wantNotice(t *testing.T, p *product.Product, subject string) {
	t.Helper()
	m := p.Mailbox.Next()
	if strings.Join(m.To, ",") != p.UserEmail || m.Header.Get("Subject") != subject || !strings.Contains(m.Text, p.AppURL+"/account/security\n") {
		t.Errorf("want %q, got:\n%s", subject, m.Raw)
	}
}

// TestPasswords checks that the owner can reset a forgotten password by mail, change it
// later, and sign in during a guessing attack. No password and no reset link may be in the
// log or the data folder.
func TestPasswords(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		var log strings.Builder
		secrets := canaries{"password of the reset": newPassword, "changed password": newerPassword}
		t.Run("product", func(t *testing.T) {
			p := product.Start(t, product.Options{Postgres: postgres, Mail: true, Log: &log})
			p.Clock.Freeze(p.Clock.Now())
			link := requestReset(t, p)
			secrets["token of the reset"] = strings.TrimPrefix(link, "/login/new-password?token=")
			resetPassword(t, p, link)
			changePassword(t, p)
			guessPassword(t, p)
			p.Mailbox.Empty()
			kept := readFiles(t, p.DataDir)
			if !bytes.Contains(kept, []byte(p.UserEmail)) {
				t.Error("the files hold nothing of the owner, so their silence shows nothing")
			}
			secrets.wantAbsent(t, "the data folder", kept)
		})
		secrets.checkLog(t, log.String(), `"of":"link to reset a password"`, `"of":"reset of a password"`, `"of":"change of password"`, `"of":"sign-in"`)
	})
}

// requestReset requests a reset link for the owner's address and for an address without an
// account. It checks that both answers are alike and returns the path of the owner's link.
func requestReset(t *testing.T, p *product.Product) string {
	t.Helper()
	b := newBrowser(t, p)
	b.wants(b.open("/login"), `<a href="/login/forgotten">`)
	form := b.form(b.open("/login/forgotten"), "/login/forgotten")
	form.Set("email", "nobody@example.net")
	status, _, unknown := b.send("/login/forgotten", form)
	form.Set("email", p.UserEmail)
	again, _, known := b.send("/login/forgotten", form)
	if status != http.StatusOK || again != status || strings.ReplaceAll(known, p.UserEmail, "nobody@example.net") != unknown || !strings.Contains(known, "was sent to it") {
		t.Errorf("an address that nobody has: %d %s\nand one that somebody has: %d %s", status, unknown, again, known)
	}
	form.Set("email", "Ada <"+p.UserEmail+">\r\nBcc: eve@example.net")
	if status, _, text := b.send("/login/forgotten", form); status != http.StatusUnprocessableEntity || !strings.Contains(text, "not an email address") {
		t.Errorf("what is no address: %d %s", status, text)
	}
	return resetLink(t, p)
}

// resetPassword sets the owner's new password with the link of a mail. It checks that unsafe
// passwords are refused, that the link works once, and that all sessions end.
func resetPassword(t *testing.T, p *product.Product, link string) {
	t.Helper()
	signedIn, b := owner(t, p), newBrowser(t, p)
	for range 2 { // mail scanners open links too, so a link must still work after it was opened
		b.wants(b.open(link), p.UserEmail, `autocomplete="new-password"`)
	}
	form := b.form(b.open(link), "/login/new-password")
	try := func(password, repeated string) (int, string, string) {
		form.Set("password", password)
		form.Set("repeated", repeated)
		return b.send("/login/new-password", form)
	}
	for password, says := range map[string]string{"password1": "most common", p.UserEmail: "part of the address", "mailhelm4ever": "name of this product", "1234567": "from 8"} {
		if status, _, text := try(password, password); status != http.StatusUnprocessableEntity || !strings.Contains(text, says) || strings.Contains(text, `value="`+password) && password != p.UserEmail {
			t.Errorf("%s: %d %s", password, status, text)
		}
	}
	if status, _, text := try(newPassword, newerPassword); status != http.StatusUnprocessableEntity || !strings.Contains(text, "not equal") {
		t.Errorf("two different ones: %d %s", status, text)
	}
	status, location, text := try(newPassword, newPassword)
	if status != http.StatusSeeOther || location != "/login?password-set" {
		t.Fatalf("the reset: %d to %q: %s", status, location, text)
	}
	b.wants(b.open(location), "Your new password is set")
	if _, location, _ := signedIn.send("/dashboard", nil); !strings.HasPrefix(location, "/login") {
		t.Errorf("a session outlives the reset: %q", location)
	}
	if status, _, text := try(newerPassword, newerPassword); status != http.StatusNotFound || !strings.Contains(text, "link is not valid") || !strings.Contains(text, `action="/login/forgotten"`) {
		t.Errorf("the link again: %d %s", status, text)
	}
	if status, _, _ := b.send("/login", url.Values{"email": {p.UserEmail}, "password": {p.UserPassword}}); status != http.StatusUnauthorized {
		t.Errorf("the old password: %d", status)
	}
	b.signIn(p.UserEmail, newPassword)
	wantNotice(t, p, "Your Mailhelm password was reset")
	lines := audited(t, p)
	if lines["user.password_reset_asked"] != 1 || lines["user.password_reset"] != 1 {
		t.Errorf("the audit log: %v", lines)
	}
}

// changePassword changes the owner's password on the security page. It checks the refusals,
// and that other sessions end.
func changePassword(t *testing.T, p *product.Product) {
	t.Helper()
	b, elsewhere := newBrowser(t, p), newBrowser(t, p)
	b.signIn(p.UserEmail, newPassword)
	elsewhere.signIn(p.UserEmail, newPassword)
	page := b.open("/account/security")
	b.wants(page, `href="/account/security/password"`)
	page = b.open("/account/security/password")
	b.wants(page, `autocomplete="current-password"`, `autocomplete="new-password"`, `autocomplete="username"`)
	form := b.form(page, "/account/security/password")
	for _, set := range []struct {
		current, next, token string
		status               int
		says                 string
	}{
		{"wrong", newerPassword, form.Get("token"), http.StatusUnprocessableEntity, "current password is wrong"},
		{newPassword, newPassword, form.Get("token"), http.StatusUnprocessableEntity, "the same as the current one"},
		{newPassword, "Baseball1", form.Get("token"), http.StatusUnprocessableEntity, "most common"},
		{newPassword, newerPassword, "x", http.StatusForbidden, "was outdated"},
		{newPassword, newerPassword, form.Get("token"), http.StatusSeeOther, ""},
	} {
		form := url.Values{"current": {set.current}, "password": {set.next}, "repeated": {set.next}, "token": {set.token}}
		status, location, text := b.send("/account/security/password", form)
		if status != set.status || !strings.Contains(text, set.says) || status == http.StatusSeeOther && location != "/account/security?password-set" {
			t.Errorf("%+v: %d to %q: %s", set, status, location, text)
		}
	}
	b.wants(b.open("/account/security?password-set"), "Your password was changed")
	if _, location, _ := elsewhere.send("/dashboard", nil); !strings.HasPrefix(location, "/login") {
		t.Errorf("another session outlives the change: %q", location)
	}
	wantNotice(t, p, "Your Mailhelm password was changed")
}

// guessPassword sends wrong passwords from the owner's network until sign-in from there is
// blocked. It checks that the browser in which the owner signed in before can still sign
// in, and that the owner gets a warning by mail.
func guessPassword(t *testing.T, p *product.Product) {
	t.Helper()
	b, stranger := newBrowser(t, p), newBrowser(t, p)
	b.signIn(p.UserEmail, newerPassword)
	b.wants(b.open("/account/security"), "Password")
	b.submit(b.open("/login"), "/logout", unchanged)
	guess := url.Values{"email": {p.UserEmail}, "password": {"wrong"}}
	stopped := false
	for range 12 {
		status, _, text := stranger.send("/login", guess)
		stopped = status == http.StatusTooManyRequests && strings.Contains(text, "Too many attempts")
	}
	if status, _, _ := stranger.send("/login", url.Values{"email": {p.UserEmail}, "password": {newerPassword}}); !stopped || status != http.StatusTooManyRequests {
		t.Errorf("a stranger: stopped: %v, then %d", stopped, status)
	}
	wantNotice(t, p, "Many wrong passwords were tried for your Mailhelm account")
	b.signIn(p.UserEmail, newerPassword)
	b.wants(b.open("/account/security"), "Many wrong passwords were tried")
	b.wants(b.open("/dashboard/audit?action=user.wrong_passwords"), "Many wrong passwords tried")
}
