package dashboard_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/pquerna/otp/totp"
)

// canaries are the secrets that a test has passed through the product, by description. No
// log line and no stored file of the product may contain one.
type canaries map[string]string

// life is a signed-in browser at one product that creates, uses and revokes secrets of
// every kind, and collects them in secrets.
type life struct {
	*browser
	secrets canaries
}

// addSecret adds a secret to l.secrets, the secrets that must not leak, and returns it. It
// fails the test if the secret has fewer than 6 bytes.
func (l life) addSecret(what, secret string) string {
	l.t.Helper()
	if len(secret) < 6 {
		l.t.Fatalf("no %s", what)
	}
	l.secrets[what] = secret
	return secret
}

// asks posts a body to the authorization server and returns the members of the JSON answer.
// kind is the Content-Type of the body.
func (l life) asks(path, kind, body string) map[string]any {
	l.t.Helper()
	answer, err := l.p.HTTP.Post(l.p.AuthURL+path, kind, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	defer answer.Body.Close()
	var response map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&response); err != nil && path != "/oauth/revoke" {
		l.t.Fatalf("%s: %d %v", path, answer.StatusCode, err)
	}
	return response
}

func (l life) form(path string, pairs ...string) map[string]any {
	l.t.Helper()
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return l.asks(path, "application/x-www-form-urlencoded", values.Encode())
}

// credentials creates, changes and revokes API keys and OAuth clients. It adds their
// secrets and access tokens to the secrets that must not leak.
func (l life) credentials() {
	path, secret := l.newKey("Canary", "api.lists.view")
	l.addSecret("API key", secret)
	calls(l.t, l.p, "/v1/lists", secret, http.StatusOK)
	l.submit(l.open(path+"/scopes"), path+"/scopes", unchanged)
	rotated := l.submit(l.open(path+"/rotate"), path+"/rotate", unchanged)
	l.addSecret("rotated API key", l.mustFind(rotated, shownKey))
	l.submit(l.open(path+"/revoke"), path+"/revoke", unchanged)
	calls(l.t, l.p, "/v1/lists", secret, http.StatusUnauthorized)

	path, secret = l.newClient("Canary", nil, "api.lists.view")
	l.addSecret("client secret", secret)
	changed := l.submit(l.open(path+"/secret"), path+"/secret", unchanged)
	client, next := stored(l.t, l.p, path).ClientID, l.addSecret("next client secret", l.mustFind(changed, shownSecret))
	l.form("/oauth/token", "grant_type", "client_credentials", "client_id", client, "client_secret", secret)
	token, _ := l.form("/oauth/token", "grant_type", "client_credentials", "client_id", client, "client_secret", next)["access_token"].(string)
	l.addSecret("access token", token)
	if response := l.form("/oauth/introspect", "token", token, "client_id", client, "client_secret", next); response["active"] != true {
		l.t.Errorf("introspection: %v", response)
	}
	l.form("/oauth/introspect", "token", token, "client_id", client, "client_secret", token)
	l.form("/oauth/revoke", "token", token, "client_id", client, "client_secret", next)
}

// registration registers a client dynamically (RFC 7591) and approves it as the signed-in
// person. It uses the client's code and tokens, sends the used code and refresh token
// again, and revokes a token. It adds each secret to the canaries, the secrets that must
// not leak.
func (l life) registration() {
	const redirect = "http://127.0.0.1/cb"
	response := l.asks("/oauth/register", "application/json", `{"client_name":"Canary","redirect_uris":["`+redirect+`"],"scope":"api.lists.view"}`)
	client, _ := response["client_id"].(string)
	secret, _ := response["client_secret"].(string)
	l.addSecret("registered client's secret", secret)
	verifier := l.addSecret("code verifier", strings.Repeat("canary-verifier.", 3))
	state := l.addSecret("state", "canary-state-of-the-client")
	sum := sha256.Sum256([]byte(verifier))
	page := l.open("/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect}, "resource": {l.p.BaseURL}, "state": {state},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode())
	form := l.browser.form(page, "/oauth/authorize")
	form["scope"], form["decision"] = []string{"api.lists.view"}, []string{"approve"}
	_, location, text := l.send("/oauth/authorize", form)
	back, err := url.Parse(location)
	if err != nil {
		l.t.Fatalf("%v: %s", err, text)
	}
	code := l.addSecret("authorization code", back.Query().Get("code"))
	exchange := []string{
		"grant_type", "authorization_code", "client_id", client, "client_secret", secret, "code", code,
		"redirect_uri", redirect, "code_verifier", verifier,
	}
	first := l.form("/oauth/token", exchange...)
	refresh, _ := first["refresh_token"].(string)
	token, _ := first["access_token"].(string)
	l.addSecret("refresh token", refresh)
	l.addSecret("person's access token", token)
	calls(l.t, l.p, "/v1/lists", token, http.StatusOK)
	again := []string{"grant_type", "refresh_token", "client_id", client, "client_secret", secret, "refresh_token", refresh}
	next, _ := l.form("/oauth/token", again...)["refresh_token"].(string)
	l.addSecret("rotated refresh token", next)
	l.form("/oauth/introspect", "token", next, "client_id", l.p.Live.ClientID, "client_secret", l.p.Live.ClientSecret)
	l.form("/oauth/token", again...)    // replays the refresh token
	l.form("/oauth/token", exchange...) // replays the code
	l.form("/oauth/revoke", "token", next, "client_id", client, "client_secret", secret)
	l.open("/dashboard/grants")
}

// invitation invites a person, who joins with a new password in another browser. It adds
// the invitation, the passwords and the session to the canaries, the secrets that must not
// leak.
func (l life) invitation() {
	link := l.invites("newcomer@example.com", "lists.view")
	l.addSecret("invitation", strings.TrimPrefix(link, "/join?token="))
	guest := newBrowser(l.t, l.p)
	page := guest.open(link)
	password := l.addSecret("chosen password", "canary password of the guest")
	guest.submit(page, "/join", func(form url.Values) {
		form.Set("name", "Newcomer")
		form.Set("password", password)
	})
	l.addSecret("newcomer's session", guest.secret())
	newBrowser(l.t, l.p).send(link, nil)
	newBrowser(l.t, l.p).send("/login", url.Values{"email": {"newcomer@example.com"}, "password": {l.addSecret("wrong password", "canary password that is wrong")}})
}

var (
	shownAppKey   = regexp.MustCompile(`<code class="key">([A-Z2-7 ]+)</code>`)
	shownRecovery = regexp.MustCompile(`<li><code>([A-Z2-7-]+)</code></li>`)
)

// secondFactor sets up an authenticator app and signs in with a recovery code, an app code
// and a wrong code. It adds the secrets and sessions to the canaries, the secrets that must
// not leak.
func (l life) secondFactor() {
	const security = "/account/security"
	page := l.submit(l.open(security), security+"/app", unchanged)
	key := l.addSecret("app's key", strings.ReplaceAll(l.mustFind(page, shownAppKey), " ", ""))
	code := func() string {
		l.p.Clock.Advance(time.Minute)
		text, err := totp.GenerateCode(key, l.p.Clock.Now())
		if err != nil {
			l.t.Fatal(err)
		}
		return text
	}
	page = l.submit(page, security+"/app/confirm", func(form url.Values) { form.Set("code", code()) })
	recovery := l.addSecret("recovery code", l.mustFind(page, shownRecovery))
	l.addSecret("recovery code without dashes", strings.ReplaceAll(recovery, "-", ""))
	for _, proof := range []string{recovery, code(), "canary-guess"} {
		b := newBrowser(l.t, l.p)
		b.signIn(l.p.UserEmail, l.p.UserPassword)
		l.addSecret("half session before "+proof, b.secret())
		form := b.form(b.open("/login/second-factor"), "/login/second-factor")
		form.Set("code", proof)
		b.send("/login/second-factor", form)
		l.addSecret("session after "+proof, b.secret())
	}
	l.addSecret("a guess", "canary-guess")
}

// everyPage opens ten pages, most of them of the dashboard, and checks that none shows a
// collected secret. It then sends secrets where they do not belong, such as in a scope or a
// filter.
func (l life) everyPage() {
	for _, path := range []string{
		"/login", "/dashboard", "/dashboard/keys", "/dashboard/clients", "/dashboard/grants", "/dashboard/members",
		"/dashboard/settings", "/dashboard/audit", "/account/security", "/docs/",
	} {
		page := l.open(path)
		for what, secret := range l.secrets {
			if strings.Contains(page, secret) {
				l.t.Errorf("%s shows the %s", path, what)
			}
		}
	}
	form := l.browser.form(l.open("/dashboard/keys/new"), "/dashboard/keys/new")
	l.addSecret("form token", form.Get("token"))
	form.Set("scope", l.addSecret("a secret for a scope", access.MintClientSecret().Secret))
	l.send("/dashboard/keys/new", form)
	l.send("/dashboard/audit?actor="+l.secrets["API key"], nil)
	l.send("/login?next=/"+l.secrets["API key"], nil)
}

// TestSecretsLeaveNoTrace checks that no secret gets into the debug log or the data folder.
// It creates a secret of every kind, presents it correctly and wrongly, and revokes it.
func TestSecretsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	storagetest.EachEngine(t, func(t *testing.T, postgres bool) {
		var log strings.Builder
		secrets := canaries{}
		t.Run("product", func(t *testing.T) {
			p := product.Start(t, product.Options{Log: &log, DynamicRegistration: true, Postgres: postgres})
			p.Clock.Freeze(p.Clock.Now())
			l := life{owner(t, p), secrets}
			l.addSecret("password", p.UserPassword)
			l.addSecret("session", l.secret())
			l.credentials()
			l.registration()
			l.invitation()
			l.secondFactor()
			l.everyPage()
			kept := readFiles(t, p.DataDir, "demo.json") // in which the demo stores its credentials
			if !postgres && !bytes.Contains(kept, []byte("newcomer@example.com")) {
				t.Error("the files hold nothing of this life, so their silence shows nothing")
			}
			secrets.wantAbsent(t, "the data folder", kept)
		})
		secrets.checkLog(t, log.String(),
			`"operation":"lists_list"`, `"of":"second factor"`, `"client registered"`, `"introspection answered"`, `"revocation answered"`, `"token refused"`)
	})
}

// checkLog fails the test if the log contains one of the secrets, or lacks one of the texts
// that the test's actions must have written to it.
func (c canaries) checkLog(t *testing.T, log string, written ...string) {
	t.Helper()
	for _, text := range written {
		if !strings.Contains(log, text) {
			t.Errorf("the log lacks %s, so its silence shows nothing", text)
		}
	}
	c.wantAbsent(t, "the log", []byte(log))
}

// wantAbsent fails the test if the text contains one of the secrets: as it is, URL-encoded,
// or decoded from Base32.
func (c canaries) wantAbsent(t *testing.T, where string, text []byte) {
	t.Helper()
	for what, secret := range c {
		forms := [][]byte{[]byte(secret), []byte(url.QueryEscape(secret))}
		if raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret); err == nil && len(raw) > 8 {
			forms = append(forms, raw)
		}
		for _, form := range forms {
			if bytes.Contains(text, form) {
				t.Errorf("%s holds the %s", where, what)
			}
		}
	}
}

// readFiles returns the content of all files in the folder, one after the other, without the
// files that have one of the names in except.
func readFiles(t *testing.T, folder string, except ...string) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || slices.Contains(except, entry.Name()) {
			return err
		}
		content, err := os.ReadFile(path)
		all = append(all, content...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
