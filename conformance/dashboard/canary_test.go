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
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/pquerna/otp/totp"
)

// canaries are the secrets that a test has passed through the product, by description. No
// log line and no stored file of the product may contain one.
type canaries map[string]string

// canaryBrowser is a signed-in browser at one product that creates, uses and revokes secrets
// of every kind, and collects them in the field secrets.
type canaryBrowser struct {
	*browser
	secrets canaries
}

// addSecret adds a secret to b.secrets, the secrets that must not leak, and returns it. It
// fails the test if the secret has fewer than 6 bytes.
func (b canaryBrowser) addSecret(what, secret string) string {
	b.t.Helper()
	if len(secret) < 6 {
		b.t.Fatalf("no %s", what)
	}
	b.secrets[what] = secret
	return secret
}

// postTo posts a body to the authorization server and returns the members of the JSON
// answer. kind is the Content-Type of the body.
func (b canaryBrowser) postTo(path, kind, body string) map[string]any {
	b.t.Helper()
	answer, err := b.p.HTTP.Post(b.p.AuthURL+path, kind, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	var response map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&response); err != nil && path != "/oauth/revoke" {
		b.t.Fatalf("%s: %d %v", path, answer.StatusCode, err)
	}
	return response
}

// postForm posts a form to the authorization server, like postTo. pairs are the names and
// values of the form.
func (b canaryBrowser) postForm(path string, pairs ...string) map[string]any {
	b.t.Helper()
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return b.postTo(path, "application/x-www-form-urlencoded", values.Encode())
}

// credentials creates, changes and revokes API keys and OAuth clients. It adds their
// secrets and access tokens to the secrets that must not leak.
func (b canaryBrowser) credentials() {
	path, secret := b.newKey("Canary", "api.lists.view")
	b.addSecret("API key", secret)
	calls(b.t, b.p, "/v1/lists", secret, http.StatusOK)
	b.submit(b.open(path+"/scopes"), path+"/scopes", unchanged)
	rotated := b.submit(b.open(path+"/rotate"), path+"/rotate", unchanged)
	b.addSecret("rotated API key", b.mustFind(rotated, shownKey))
	b.submit(b.open(path+"/revoke"), path+"/revoke", unchanged)
	calls(b.t, b.p, "/v1/lists", secret, http.StatusUnauthorized)

	path, secret = b.newClient("Canary", nil, "api.lists.view")
	b.addSecret("client secret", secret)
	changed := b.submit(b.open(path+"/secret"), path+"/secret", unchanged)
	client, next := stored(b.t, b.p, path).ClientID, b.addSecret("next client secret", b.mustFind(changed, shownSecret))
	b.postForm("/oauth/token", "grant_type", "client_credentials", "client_id", client, "client_secret", secret)
	token, _ := b.postForm("/oauth/token", "grant_type", "client_credentials", "client_id", client, "client_secret", next)["access_token"].(string)
	b.addSecret("access token", token)
	if response := b.postForm("/oauth/introspect", "token", token, "client_id", client, "client_secret", next); response["active"] != true {
		b.t.Errorf("introspection: %v", response)
	}
	b.postForm("/oauth/introspect", "token", token, "client_id", client, "client_secret", token)
	b.postForm("/oauth/revoke", "token", token, "client_id", client, "client_secret", next)
}

// registration registers a client dynamically (RFC 7591) and approves it as the signed-in
// person. It uses the client's code and tokens, sends the used code and refresh token
// again, and revokes a token. It adds each secret to the canaries, the secrets that must
// not leak.
func (b canaryBrowser) registration() {
	const redirect = "http://127.0.0.1/cb"
	response := b.postTo("/oauth/register", "application/json", `{"client_name":"Canary","redirect_uris":["`+redirect+`"],"scope":"api.lists.view"}`)
	client, _ := response["client_id"].(string)
	secret, _ := response["client_secret"].(string)
	b.addSecret("registered client's secret", secret)
	verifier := b.addSecret("code verifier", strings.Repeat("canary-verifier.", 3))
	state := b.addSecret("state", "canary-state-of-the-client")
	sum := sha256.Sum256([]byte(verifier))
	page := b.open("/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect}, "resource": {b.p.BaseURL}, "state": {state},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode())
	form := b.form(page, "/oauth/authorize")
	form["scope"], form["decision"] = []string{"api.lists.view"}, []string{"approve"}
	_, location, text := b.send("/oauth/authorize", form)
	back, err := url.Parse(location)
	if err != nil {
		b.t.Fatalf("%v: %s", err, text)
	}
	code := b.addSecret("authorization code", back.Query().Get("code"))
	exchange := []string{
		"grant_type", "authorization_code", "client_id", client, "client_secret", secret, "code", code,
		"redirect_uri", redirect, "code_verifier", verifier,
	}
	first := b.postForm("/oauth/token", exchange...)
	refresh, _ := first["refresh_token"].(string)
	token, _ := first["access_token"].(string)
	b.addSecret("refresh token", refresh)
	b.addSecret("person's access token", token)
	calls(b.t, b.p, "/v1/lists", token, http.StatusOK)
	again := []string{"grant_type", "refresh_token", "client_id", client, "client_secret", secret, "refresh_token", refresh}
	next, _ := b.postForm("/oauth/token", again...)["refresh_token"].(string)
	b.addSecret("rotated refresh token", next)
	b.postForm("/oauth/introspect", "token", next, "client_id", b.p.Live.ClientID, "client_secret", b.p.Live.ClientSecret)
	b.postForm("/oauth/token", again...)    // replays the refresh token
	b.postForm("/oauth/token", exchange...) // replays the code
	b.postForm("/oauth/revoke", "token", next, "client_id", client, "client_secret", secret)
	b.open("/dashboard/grants")
}

// invitation invites a person, who joins with a new password in another browser. It adds
// the invitation, the passwords and the session to the canaries, the secrets that must not
// leak.
func (b canaryBrowser) invitation() {
	link := b.invites("newcomer@example.com", "lists.view")
	b.addSecret("invitation", strings.TrimPrefix(link, "/join?token="))
	guest := newBrowser(b.t, b.p)
	page := guest.open(link)
	password := b.addSecret("chosen password", "canary password of the guest")
	guest.submit(page, "/join", func(form url.Values) {
		form.Set("name", "Newcomer")
		form.Set("password", password)
	})
	b.addSecret("newcomer's session", guest.secret())
	newBrowser(b.t, b.p).send(link, nil)
	newBrowser(b.t, b.p).send("/login", url.Values{"email": {"newcomer@example.com"}, "password": {b.addSecret("wrong password", "canary password that is wrong")}})
}

var (
	shownAppKey   = regexp.MustCompile(`<code class="key">([A-Z2-7 ]+)</code>`)
	shownRecovery = regexp.MustCompile(`<li><code>([A-Z2-7-]+)</code></li>`)
)

// secondFactor sets up an authenticator app and signs in with a recovery code, an app code
// and a wrong code. It adds the secrets and sessions to the canaries, the secrets that must
// not leak.
func (b canaryBrowser) secondFactor() {
	const security = "/account/security"
	page := b.submit(b.open(security), security+"/app", unchanged)
	key := b.addSecret("app's key", strings.ReplaceAll(b.mustFind(page, shownAppKey), " ", ""))
	code := func() string {
		b.p.Clock.Advance(time.Minute)
		text, err := totp.GenerateCode(key, b.p.Clock.Now())
		if err != nil {
			b.t.Fatal(err)
		}
		return text
	}
	page = b.submit(page, security+"/app/confirm", func(form url.Values) { form.Set("code", code()) })
	recovery := b.addSecret("recovery code", b.mustFind(page, shownRecovery))
	b.addSecret("recovery code without dashes", strings.ReplaceAll(recovery, "-", ""))
	for _, proof := range []string{recovery, code(), "canary-guess"} {
		another := newBrowser(b.t, b.p)
		another.signIn(b.p.UserEmail, b.p.UserPassword)
		b.addSecret("half session before "+proof, another.secret())
		form := another.form(another.open("/login/second-factor"), "/login/second-factor")
		form.Set("code", proof)
		another.send("/login/second-factor", form)
		b.addSecret("session after "+proof, another.secret())
	}
	b.addSecret("a guess", "canary-guess")
}

// openPages opens ten pages, most of them of the dashboard, and checks that none shows a
// collected secret. It then sends secrets where they do not belong, such as in a scope or a
// filter.
func (b canaryBrowser) openPages() {
	for _, path := range []string{
		"/login", "/dashboard", "/dashboard/keys", "/dashboard/clients", "/dashboard/grants", "/dashboard/members",
		"/dashboard/settings", "/dashboard/audit", "/account/security", "/docs/",
	} {
		page := b.open(path)
		for what, secret := range b.secrets {
			if strings.Contains(page, secret) {
				b.t.Errorf("%s shows the %s", path, what)
			}
		}
	}
	form := b.form(b.open("/dashboard/keys/new"), "/dashboard/keys/new")
	b.addSecret("form token", form.Get("token"))
	form.Set("scope", b.addSecret("a secret for a scope", access.MintClientSecret().Secret))
	b.send("/dashboard/keys/new", form)
	b.send("/dashboard/audit?actor="+b.secrets["API key"], nil)
	b.send("/login?next=/"+b.secrets["API key"], nil)
}

// TestSecretsLeaveNoTrace checks that no secret gets into the debug log or the data folder.
// It creates a secret of every kind, presents it correctly and wrongly, and revokes it.
func TestSecretsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		var log strings.Builder
		secrets := canaries{}
		t.Run("product", func(t *testing.T) {
			p := product.Start(t, product.Options{Log: &log, DynamicRegistration: true, Postgres: postgres})
			p.Clock.Freeze(p.Clock.Now())
			b := canaryBrowser{owner(t, p), secrets}
			b.addSecret("password", p.UserPassword)
			b.addSecret("session", b.secret())
			b.credentials()
			b.registration()
			b.invitation()
			b.secondFactor()
			b.openPages()
			kept := readFiles(t, p.DataDir, "demo.json") // in which the demo stores its credentials
			if !postgres && !bytes.Contains(kept, []byte("newcomer@example.com")) {
				t.Error("the files hold nothing of what the test did, so their silence shows nothing")
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
