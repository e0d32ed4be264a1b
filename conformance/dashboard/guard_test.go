package dashboard_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// things has the ids of an API key, an OAuth client and a grant of one organization.
type things struct{ key, client, grant string }

func (o things) pages() []string {
	key, client := "/dashboard/keys/"+o.key, "/dashboard/clients/"+o.client
	return []string{key, key + "/scopes", key + "/rotate", key + "/revoke", client, client + "/edit", client + "/secret", client + "/revoke"}
}

func (o things) forms() []string {
	key, client := "/dashboard/keys/"+o.key, "/dashboard/clients/"+o.client
	return []string{
		key + "/scopes", key + "/rotate", key + "/revoke", client + "/edit", client + "/secret", client + "/revoke",
		"/dashboard/grants/" + o.grant + "/revoke",
	}
}

func loadThings(t *testing.T, p *product.Product, orgID, userID string) things {
	t.Helper()
	keys, err := p.DB.Keys().APIKeysOf(t.Context(), orgID)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := p.DB.Clients().ClientsOf(t.Context(), orgID)
	if err != nil {
		t.Fatal(err)
	}
	g := access.Grant{
		ID: core.NewID(), OrgID: orgID, UserID: userID, ClientID: clients[0].ClientID, Resource: access.API,
		Scopes: core.NewScopes("api.lists.view"), CreatedAt: p.Clock.Now(),
	}
	if err := p.DB.Grants().InsertGrant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	return things{keys[0].ID, clients[0].ID, g.ID}
}

// secret returns the session secret from the browser's cookie.
func (b *browser) secret() string {
	b.t.Helper()
	app, err := url.Parse(b.p.AppURL)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.http.Jar.Cookies(app) {
		if c.Name == "mailhelm_session" {
			return c.Value
		}
	}
	b.t.Fatal("no session")
	return ""
}

// proof returns form values with a form token that is valid for the organization and the
// path. No page shows a form for an object of another organization, so the test computes
// the token itself. A refusal of such a form can then only be due to the object in the
// path.
func (b *browser) proof(orgID, path string) url.Values {
	mac := hmac.New(sha256.New, []byte(b.secret()))
	mac.Write([]byte("mailhelm form 1\x00" + orgID + "\x00dashboard\x00" + path))
	token := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil))
	return url.Values{"token": {token}, "apply": {"yes"}, "scope": {"api.lists.view"}, "name": {"Taken"}, "refresh_days": {"30"}}
}

func TestOtherOrganizationsThings(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		someone, err := p.DB.Users().UserByEmail(t.Context(), p.UserEmail)
		if err != nil {
			t.Fatal(err)
		}
		foreign, own := loadThings(t, p, p.Other.OrgID, someone.ID), loadThings(t, p, p.OrgID, someone.ID)
		if status, _, text := boss.send("/dashboard/keys/"+own.key+"/scopes", boss.proof(p.OrgID, "/dashboard/keys/"+own.key+"/scopes")); status != http.StatusSeeOther {
			t.Fatalf("the proof of this test is none: %d %s", status, text)
		}
		for _, id := range []things{foreign, {core.NewID(), core.NewID(), core.NewID()}, {"x", "x", "x"}, {"%27", "%00", "%FF"}} {
			for _, path := range id.pages() {
				if status, _, text := boss.send(path, nil); status != http.StatusNotFound || !strings.Contains(text, "Page not found") {
					t.Errorf("GET %s: %d", path, status)
				}
			}
			if strings.HasPrefix(id.key, "%") {
				continue
			}
			for _, path := range id.forms() {
				if status, _, _ := boss.send(path, boss.proof(p.OrgID, path)); status != http.StatusNotFound {
					t.Errorf("POST %s: %d", path, status)
				}
			}
		}
		calls(t, p, "/v1/lists", p.Other.Live.APIKey, http.StatusOK)
		issues(t, p, p.Other.Live.ClientID, p.Other.Live.ClientSecret, http.StatusOK)
	})
}

func TestFormsProveWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss, stranger := owner(t, p), owner(t, p)
		user, err := p.DB.Users().UserByEmail(t.Context(), p.UserEmail)
		if err != nil {
			t.Fatal(err)
		}
		own := loadThings(t, p, p.OrgID, user.ID)
		before := audited(t, p)
		for _, path := range append(own.forms(), "/dashboard/keys/new", "/dashboard/clients/new", "/dashboard/clients/block", "/dashboard/clients/unblock") {
			good := boss.proof(p.OrgID, path)
			for what, token := range map[string]string{
				"no token": "", "a wrong one": good.Get("token") + "A", "another path's": boss.proof(p.OrgID, path+"/x").Get("token"),
				"another organization's": boss.proof(p.Other.OrgID, path).Get("token"), "another session's": stranger.proof(p.OrgID, path).Get("token"),
			} {
				form := boss.proof(p.OrgID, path)
				form.Set("token", token)
				if status, _, text := boss.send(path, form); status != http.StatusForbidden || !strings.Contains(text, "was outdated") {
					t.Errorf("%s with %s: %d", path, what, status)
				}
			}
			for _, headers := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
				if status, _ := boss.raw(http.MethodPost, path, good, headers[0], headers[1]); status != http.StatusForbidden {
					t.Errorf("%s with %v: %d", path, headers, status)
				}
			}
		}
		sameLines(t, before, audited(t, p))
	})
}

// raw sends a form with additional request headers, given as pairs of name and value. It
// returns the status and the headers of the answer.
func (b *browser) raw(method, path string, form url.Values, headers ...string) (int, http.Header) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.p.AppURL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode, answer.Header
}

func sameLines(t *testing.T, before, after map[string]int) {
	t.Helper()
	if !maps.Equal(before, after) {
		t.Errorf("something was done: %v, before %v", after, before)
	}
}

func TestPagesOnlyShow(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		user, err := p.DB.Users().UserByEmail(t.Context(), p.UserEmail)
		if err != nil {
			t.Fatal(err)
		}
		own := loadThings(t, p, p.OrgID, user.ID)
		before := audited(t, p)
		pages := append(own.pages(), "/dashboard", "/dashboard/keys", "/dashboard/keys/new", "/dashboard/clients", "/dashboard/clients/new", "/dashboard/grants", "/dashboard/nothing")
		for _, path := range pages {
			_, got := boss.raw(http.MethodGet, path+"?apply=yes&name=x&scope=api.lists.view&token="+boss.proof(p.OrgID, path).Get("token"), nil)
			for header, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; script-src 'self'; connect-src 'self'",
				"X-Frame-Options":         "DENY", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
			} {
				if got.Get(header) != want {
					t.Errorf("%s: %s: %q", path, header, got.Get(header))
				}
			}
			for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch} {
				if status, _ := boss.raw(method, path, nil, "Sec-Fetch-Site", "same-origin"); status != http.StatusMethodNotAllowed {
					t.Errorf("%s %s: %d", method, path, status)
				}
			}
			anybody := newBrowser(t, p)
			if status, location, _ := anybody.send(path, nil); status != http.StatusSeeOther || !strings.HasPrefix(location, "/login") {
				t.Errorf("%s without signing in: %d to %q", path, status, location)
			}
		}
		sameLines(t, before, audited(t, p))
		for _, form := range own.forms() {
			if status, _ := boss.raw(http.MethodGet, form, nil); status != http.StatusOK && status != http.StatusMethodNotAllowed {
				t.Errorf("GET %s: %d", form, status)
			}
		}
		if _, got := boss.raw(http.MethodGet, "/", nil); got.Get("Location") != "/dashboard" {
			t.Errorf("the bare address leads to %q", got.Get("Location"))
		}
	})
}

func TestPagesNameTheMissingPermission(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		everyOther := slices.DeleteFunc(members.AllPermissions(), func(one members.Permission) bool { return one == members.MayManageCredentials })
		kim := person(t, p, "kim", members.PlainMember, everyOther...)
		b := newBrowser(t, p)
		b.signIn(kim.Email, personPassword)
		own := loadThings(t, p, p.OrgID, kim.ID)
		for _, path := range append(own.pages(), "/dashboard/keys", "/dashboard/keys/new", "/dashboard/clients", "/dashboard/clients/new") {
			if status, _, text := b.send(path, nil); status != http.StatusForbidden || !strings.Contains(text, "credentials.manage") {
				t.Errorf("GET %s: %d", path, status)
			}
		}
		before := audited(t, p)
		for _, path := range append(own.forms(), "/dashboard/keys/new", "/dashboard/clients/new", "/dashboard/clients/block", "/dashboard/clients/unblock") {
			if strings.HasPrefix(path, "/dashboard/grants/") {
				continue // members may revoke their own grants without the permission credentials.manage
			}
			if status, _, text := b.send(path, b.proof(p.OrgID, path)); status != http.StatusForbidden || !strings.Contains(text, "credentials.manage") {
				t.Errorf("POST %s: %d", path, status)
			}
		}
		sameLines(t, before, audited(t, p))
		b.lacks(b.open("/dashboard"), "registered application", "Create an API key")
	})
}

// TestSecondFactorBeforeCredentials checks an organization that requires a second factor.
// Creating and revoking keys and clients needs a recent second-factor check; changing
// scopes, rotating and editing do not.
func TestSecondFactorBeforeCredentials(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		ctx, now := t.Context(), p.Clock.Now()
		session, err := p.DB.Sessions().Session(ctx, access.HashSecret(boss.secret()), now)
		if err != nil {
			t.Fatal(err)
		}
		own := loadThings(t, p, p.OrgID, session.UserID)
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		org, err := p.DB.Orgs().Org(ctx, p.OrgID)
		must(err)
		org.RequireSecondFactor = true
		must(p.DB.Orgs().SetOrgSettings(ctx, org))
		must(p.DB.Passkeys().InsertPasskey(ctx, people.Passkey{
			ID: core.NewID(), UserID: session.UserID, CredentialID: []byte("one"), Name: "Key", Credential: "{}", CreatedAt: now,
		}))
		proven := func(ago time.Duration) {
			at := now.Add(-ago)
			session.SecondFactorAt = &at
			must(p.DB.Sessions().TouchSession(ctx, session))
		}
		key, client := "/dashboard/keys/"+own.key, "/dashboard/clients/"+own.client
		asking := []string{"/dashboard/keys/new", key + "/revoke", "/dashboard/clients/new", client + "/revoke"}

		proven(people.ProofAge + time.Minute)
		before := audited(t, p)
		for _, path := range asking {
			for _, form := range []url.Values{nil, boss.proof(p.OrgID, path)} {
				status, location, _ := boss.send(path, form)
				if status != http.StatusSeeOther || !strings.HasSuffix(location, "?next="+url.QueryEscape(path)) {
					t.Errorf("%s: %d to %q", path, status, location)
				}
			}
		}
		sameLines(t, before, audited(t, p))
		for _, path := range []string{key, key + "/scopes", key + "/rotate", client + "/edit", client + "/secret"} {
			if status, _, _ := boss.send(path, nil); status != http.StatusOK {
				t.Errorf("%s: %d", path, status)
			}
		}
		boss.wants(boss.submit(boss.open(key+"/scopes"), key+"/scopes", func(form url.Values) {
			form["scope"] = []string{"api.lists.view"}
			form.Set("apply", "yes")
		}), "The scopes are changed")
		boss.mustFind(boss.submit(boss.open(key+"/rotate"), key+"/rotate", unchanged), shownKey)
		own.key = keyInForce(t, p)
		key = "/dashboard/keys/" + own.key
		asking[1] = key + "/revoke"
		proven(time.Minute)
		for _, path := range asking {
			if status, _, _ := boss.send(path, nil); status != http.StatusOK {
				t.Errorf("%s after a fresh proof: %d", path, status)
			}
		}
		boss.newKey("Proven", "api.lists.view")
	})
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		const hostile, shown = `<script>alert(1)</script>"'`, `&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;`
		key, _ := boss.newKey(hostile, "api.lists.view")
		client, _ := boss.newClient(hostile, nil, "api.lists.view")
		for _, path := range []string{"/dashboard/keys", key, key + "/rotate", key + "/revoke", key + "/scopes", "/dashboard/clients", client, client + "/edit", client + "/revoke"} {
			page := boss.open(path)
			boss.lacks(page, "<script>")
			boss.wants(page, shown)
		}
		user, err := p.DB.Users().UserByEmail(t.Context(), p.UserEmail)
		if err != nil {
			t.Fatal(err)
		}
		turned := documented(t, p, "https://b.example/client.json", "Bank\u202e"+hostile+"\u2066\u200b")
		granted(t, p, turned, user.ID)
		page := boss.open("/dashboard/grants")
		boss.lacks(page, "<script>", "\u202e", "\u2066", "\u200b")
		boss.wants(page, "Bank"+shown, "at b.example")
	})
}

// TestSwitchingMakesFormsVoid checks that a form loaded in one organization is refused
// after the person has switched to another organization.
func TestSwitchingMakesFormsVoid(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		user, err := p.DB.Users().UserByEmail(t.Context(), p.UserEmail)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.DB.Members().AddMember(t.Context(), p.Other.OrgID, user.ID, string(members.Owner)); err != nil {
			t.Fatal(err)
		}
		const here = "/dashboard/keys/new"
		page := boss.open(here)
		old := boss.form(page, here)
		old.Set("name", "Stray")
		old.Set("scope", "api.lists.view")
		boss.wants(page, `<bdi>Other Org</bdi>`)
		boss.wants(boss.submit(page, "/switch-org", unchanged), "API keys", "Other Org")
		if status, _, _ := boss.send(here, old); status != http.StatusForbidden {
			t.Errorf("the old form: %d", status)
		}
	})
}

// keyInForce returns the id of an active API key of the organization. It fails the test if
// no key is active.
func keyInForce(t *testing.T, p *product.Product) string {
	t.Helper()
	keys, err := p.DB.Keys().APIKeysOf(t.Context(), p.OrgID)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.StateAt(p.Clock.Now()) == access.KeyActive {
			return k.ID
		}
	}
	t.Fatal("no key is in force")
	return ""
}
