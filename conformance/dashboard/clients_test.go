package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// newClient registers a confidential OAuth client with the form. The function change edits
// the values of the form first. newClient returns the path of the client's page and the
// client secret.
func (b *browser) newClient(name string, change func(url.Values), scopes ...string) (path, secret string) {
	b.t.Helper()
	const here = "/dashboard/clients/new"
	page := b.submit(b.open(here), here, func(form url.Values) {
		form.Set("name", name)
		form["scope"] = scopes
		if change != nil {
			change(form)
		}
	})
	return b.mustFind(page, clientLink), b.mustFind(page, shownSecret)
}

// stored returns the OAuth client whose page has this path.
func stored(t *testing.T, p *product.Product, path string) access.Client {
	t.Helper()
	c, err := p.DB.Clients().ClientByID(t.Context(), p.OrgID, path[strings.LastIndex(path, "/")+1:])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// issues requests an access token with client_credentials and checks the status of the
// answer.
func issues(t *testing.T, p *product.Product, clientID, secret string, want int) {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {p.BaseURL}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.AuthURL+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(clientID, secret)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != want {
		t.Errorf("token: %d, want %d", answer.StatusCode, want)
	}
}

func TestLifeOfAClient(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		path, secret := boss.newClient("Reporter", func(form url.Values) {
			form.Set("redirect_uris", "https://app.example.com/cb\r\n\r\n http://localhost:3000/cb \r\n")
			form.Set("refresh_days", "30")
		}, "api.lists.view")
		c := stored(t, p, path)
		if strings.Join(c.RedirectURIs, " ") != "https://app.example.com/cb http://localhost:3000/cb" || c.RefreshDays != 30 {
			t.Errorf("stored %+v", c)
		}
		token := p.TokenWith(t, product.Credentials{ClientID: c.ClientID, ClientSecret: secret}, p.BaseURL)
		calls(t, p, "/v1/lists", token, http.StatusOK)

		page := boss.submit(boss.open(path+"/edit"), path+"/edit", func(form url.Values) {
			form.Set("name", "Reader")
			form["scope"] = []string{"api.topics.view"}
			form.Set("refresh_days", "0")
		})
		boss.wants(page, "The application is changed", "Reader", "Never, until the access is revoked", "http://localhost:3000/cb")
		calls(t, p, "/v1/lists", token, http.StatusForbidden)

		page = boss.submit(boss.open(path+"/secret"), path+"/secret", unchanged)
		next := boss.mustFind(page, shownSecret)
		issues(t, p, c.ClientID, secret, http.StatusUnauthorized)
		issues(t, p, c.ClientID, next, http.StatusOK)

		boss.wants(boss.submit(boss.open(path+"/revoke"), path+"/revoke", unchanged), "The application is revoked", "1 revoked")
		issues(t, p, c.ClientID, next, http.StatusUnauthorized)
		calls(t, p, "/v1/_scopes", token, http.StatusUnauthorized)
		for _, step := range []string{"/edit", "/secret", "/revoke"} {
			if status, _, _ := boss.send(path+step, nil); status != http.StatusConflict {
				t.Errorf("%s of a revoked client: %d", step, status)
			}
		}
	})
}

func TestWhatAClientsFormRefuses(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		const here = "/dashboard/clients/new"
		for what, c := range map[string]struct {
			change func(url.Values)
			says   string
		}{
			"a wildcard":        {func(f url.Values) { f.Set("redirect_uris", "https://a.example/\nhttps://*.example/") }, "number 2"},
			"http":              {func(f url.Values) { f.Set("redirect_uris", "http://a.example/") }, "must begin with https://"},
			"public, no return": {func(f url.Values) { f.Set("kind", "public") }, "The redirect addresses must not be empty"},
			"an odd lifetime":   {func(f url.Values) { f.Set("refresh_days", "31") }, "The lifetime must be"},
			"no number":         {func(f url.Values) { f.Set("refresh_days", "soon") }, "The lifetime must be"},
			"no scopes":         {func(f url.Values) { f.Del("scope") }, "The scopes are missing: select at least one"},
			"no name":           {func(f url.Values) { f.Set("name", " ") }, "The name must not be empty"},
		} {
			form := boss.form(boss.open(here), here)
			form.Set("name", "App")
			form.Set("scope", "api.lists.view")
			c.change(form)
			status, _, text := boss.send(here, form)
			if status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d", what, status)
			}
			boss.wants(text, c.says)
		}
		page := boss.open(here)
		form := boss.form(page, here)
		form.Set("name", "Desktop")
		form.Set("kind", "public")
		form.Set("scope", "api.lists.view")
		form.Set("redirect_uris", "http://localhost/cb")
		status, _, text := boss.send(here, form)
		if status != http.StatusOK || shownSecret.MatchString(text) {
			t.Errorf("a public client: %d %s", status, text)
		}
		boss.wants(text, "It is public and has no secret")
		path := boss.mustFind(text, clientLink)
		if status, _, _ := boss.send(path+"/secret", nil); status != http.StatusConflict {
			t.Errorf("a secret for a public client: %d", status)
		}
	})
}

// granted stores a user's grant to a client that belongs to no organization, and redeems
// its authorization code.
func granted(t *testing.T, p *product.Product, client access.Client, userID string) access.Grant {
	t.Helper()
	ctx := t.Context()
	g := access.Grant{
		ID: core.NewID(), OrgID: p.OrgID, UserID: userID, ClientID: client.ClientID, Resource: access.Agent,
		Scopes: core.NewScopes("api.lists.view"), CreatedAt: p.Clock.Now(),
	}
	code := access.AuthorizationCode{
		Hash: access.HashSecret(g.ID), GrantID: g.ID, OrgID: p.OrgID, ClientID: client.ClientID, RedirectURI: "https://a.example/",
		Challenge: "c", ExpiresAt: p.Clock.Now().Add(time.Minute),
	}
	if err := p.DB.Grants().InsertGrant(ctx, g); err != nil {
		t.Fatal(err)
	}
	if err := p.DB.Tokens().InsertCode(ctx, code); err != nil {
		t.Fatal(err)
	}
	if _, redeemed, err := p.DB.Tokens().RedeemCode(ctx, code.Hash, p.Clock.Now()); err != nil || redeemed != access.Redeemed {
		t.Fatal(redeemed, err)
	}
	return g
}

// documented stores an OAuth client that is described by a client metadata document at the
// address.
func documented(t *testing.T, p *product.Product, address, name string) access.Client {
	t.Helper()
	d := access.ClientDocument{ClientID: address, Name: name, RedirectURIs: []string{"https://a.example/"}}
	c, err := p.DB.OpenClients().SaveDocumentClient(t.Context(), d.Client(p.Clock.Now()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBlockingApplications(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss, ann := owner(t, p), person(t, p, "ann", members.PlainMember, members.MayViewLists)
		client := documented(t, p, "https://a.example/client.json", "Assistant")
		g := granted(t, p, client, ann.ID)
		const list, block, unblock = "/dashboard/clients", "/dashboard/clients/block", "/dashboard/clients/unblock"

		page := boss.open("/dashboard/grants")
		boss.wants(page, "Assistant", "at a.example", "ann@example.com", "the agent endpoint")
		boss.wants(boss.submit(page, block, unchanged), "The application is blocked", "https://a.example/client.json")
		if got, err := p.DB.Grants().Grant(t.Context(), p.OrgID, g.ID); err != nil || got.RevokedAt == nil {
			t.Errorf("the grant goes on: %+v %v", got, err)
		}
		boss.lacks(boss.open("/dashboard/grants"), "Assistant")
		boss.wants(boss.submit(boss.open(list), unblock, unchanged), "The application is unblocked")

		boss.wants(boss.submit(boss.open(list), block, func(f url.Values) { f.Set("client_id", " https://never.example/met ") }), "https://never.example/met")
		form := boss.form(boss.open(list), block)
		for typed, want := range map[string]int{
			"nonsense<b>": http.StatusUnprocessableEntity, p.Other.Live.ClientID: http.StatusUnprocessableEntity, p.Live.ClientID: http.StatusConflict,
		} {
			form.Set("client_id", typed)
			status, _, text := boss.send(block, form)
			if status != want || strings.Contains(text, "nonsense<b>") {
				t.Errorf("blocking %s: %d, want %d", typed, status, want)
			}
		}
		lines := audited(t, p)
		if lines["oauth_client.blocked"] != 2 || lines["oauth_client.unblocked"] != 1 {
			t.Errorf("lines %v", lines)
		}
	})
}
