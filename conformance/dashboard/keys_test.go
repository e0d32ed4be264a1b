package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
)

// newKey creates an API key with the form and returns the path of the key's page and the
// secret.
func (b *browser) newKey(name string, scopes ...string) (path, secret string) {
	b.t.Helper()
	const here = "/dashboard/keys/new"
	page := b.submit(b.open(here), here, func(form url.Values) {
		form.Set("name", name)
		form["scope"] = scopes
	})
	return b.mustFind(page, keyLink), b.mustFind(page, shownKey)
}

// TestFormSentTwiceMakesOneThing checks that a form for a new key or client that is sent
// twice creates only one. A browser sends such a form again when its page with the secret
// is reloaded.
func TestFormSentTwiceMakesOneThing(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		for here, made := range map[string]string{"/dashboard/keys/new": "api_key.created", "/dashboard/clients/new": "oauth_client.created"} {
			form := boss.form(boss.open(here), here)
			form.Set("name", "Twice")
			form["scope"] = []string{"api.lists.view"}
			before := audited(t, p)[made]
			if status, _, text := boss.send(here, form); status != http.StatusOK {
				t.Fatalf("%s: %d %s", here, status, text)
			}
			if status, _, text := boss.send(here, form); status != http.StatusConflict || !strings.Contains(text, "sent before") {
				t.Errorf("%s, sent again: %d %s", here, status, text)
			}
			if made := audited(t, p)[made] - before; made != 1 {
				t.Errorf("%s made %d", here, made)
			}
			form.Set("once", "x")
			if status, _, _ := boss.send(here, form); status != http.StatusUnprocessableEntity {
				t.Errorf("%s without its id: %d", here, status)
			}
		}
	})
}

func TestLifeOfAKey(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		path, first := boss.newKey("Importer", "api.lists.view")
		calls(t, p, "/v1/lists", first, http.StatusOK)
		calls(t, p, "/v1/topics", first, http.StatusForbidden)

		review := boss.submit(boss.open(path+"/scopes"), path+"/scopes", func(form url.Values) { form["scope"] = []string{"api.topics.view"} })
		boss.wants(review, "Added", "api.topics.view", "Removed", "api.lists.view")
		calls(t, p, "/v1/lists", first, http.StatusOK)
		boss.wants(boss.submit(review, path+"/scopes", unchanged), "The scopes are changed", "api.topics.view")
		calls(t, p, "/v1/lists", first, http.StatusForbidden)
		calls(t, p, "/v1/topics", first, http.StatusOK)
		boss.wants(boss.submit(boss.open(path+"/scopes"), path+"/scopes", unchanged), "The key already had these scopes")

		rotated := boss.submit(boss.open(path+"/rotate"), path+"/rotate", unchanged)
		boss.wants(rotated, "The old key stays valid until")
		second := boss.mustFind(rotated, shownKey)
		successor := boss.mustFind(rotated, keyLink)
		calls(t, p, "/v1/topics", first, http.StatusOK)
		calls(t, p, "/v1/topics", second, http.StatusOK)
		boss.wants(boss.open("/dashboard/keys"), "grace period", "until <time>")
		if status, _, text := boss.send(path+"/rotate", boss.form(boss.open(successor+"/rotate"), successor+"/rotate")); status != http.StatusForbidden {
			t.Errorf("the form of another key rotates: %d %s", status, text)
		}

		boss.wants(boss.submit(boss.open(successor+"/revoke"), successor+"/revoke", unchanged), "The key is revoked", "1 ended")
		calls(t, p, "/v1/topics", second, http.StatusUnauthorized)
		calls(t, p, "/v1/topics", first, http.StatusOK)
		for _, step := range []string{"/scopes", "/rotate", "/revoke"} {
			if status, _, _ := boss.send(successor+step, nil); status != http.StatusConflict {
				t.Errorf("%s of a revoked key: %d", step, status)
			}
		}
		p.Clock.Advance(24*time.Hour + time.Minute)
		calls(t, p, "/v1/topics", first, http.StatusUnauthorized)
		late := owner(t, p)
		late.wants(late.open("/dashboard/keys"), "expired")

		lines := audited(t, p)
		for action, want := range map[string]int{"api_key.scopes_updated": 1, "api_key.rotated": 2, "api_key.revoked": 1} {
			if lines[action] != want {
				t.Errorf("%d lines %s, want %d", lines[action], action, want)
			}
		}
	})
}

func TestSecretsAreShownOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	var secrets []string
	t.Run("product", func(t *testing.T) {
		p := product.Start(t, product.Options{Log: &log})
		boss := owner(t, p)
		key, secret := boss.newKey("Once", "api.lists.view")
		client, clientSecret := boss.newClient("Once", nil, "api.lists.view")
		secrets = []string{secret, clientSecret}
		calls(t, p, "/v1/lists", secret, http.StatusOK)
		for _, path := range []string{
			"/dashboard", "/dashboard/keys", key, key + "/scopes", key + "/rotate", key + "/revoke", "/dashboard/audit",
			"/dashboard/clients", client, client + "/edit", client + "/secret", client + "/revoke",
		} {
			boss.lacks(boss.open(path), secrets...)
		}
	})
	if !strings.Contains(log.String(), `"operation":"lists_list"`) {
		t.Error("the log does not even hold a call, so its silence about secrets shows nothing")
	}
	for _, secret := range secrets {
		if strings.Contains(log.String(), secret) {
			t.Error("the log holds a secret")
		}
	}
}

func TestWhatAKeysFormRefuses(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss, have := owner(t, p), keysOf(t, p)
		const here = "/dashboard/keys/new"
		good := boss.form(boss.open(here), here)
		good.Set("name", "Importer")
		good.Set("scope", "api.lists.view")
		for what, change := range map[string]func(url.Values){
			"no name":                func(f url.Values) { f.Set("name", "") },
			"a name that turns":      func(f url.Values) { f.Set("name", "a\u202eb") },
			"no scopes":              func(f url.Values) { f.Del("scope") },
			"an unknown scope":       func(f url.Values) { f.Add("scope", "api.everything") },
			"an unknown environment": func(f url.Values) { f.Set("environment", "prod") },
		} {
			form := url.Values{}
			for name, values := range good {
				form[name] = append([]string{}, values...)
			}
			change(form)
			status, _, text := boss.send(here, form)
			if status != http.StatusUnprocessableEntity || !strings.Contains(text, `role="alert"`) {
				t.Errorf("%s: %d %s", what, status, text)
			}
			if what == "no scopes" {
				boss.wants(text, `value="Importer"`)
			}
		}
		if n := keysOf(t, p) - have; n != 0 {
			t.Errorf("%d keys were made", n)
		}
	})
}

// keysOf returns the number of API keys of the organization.
func keysOf(t *testing.T, p *product.Product) int {
	t.Helper()
	keys, err := p.DB.Keys().APIKeysOf(t.Context(), p.OrgID)
	if err != nil {
		t.Fatal(err)
	}
	return len(keys)
}

// TestKeysStayBelowTheirMaker checks that members cannot give a key more permissions than
// they have themselves. They also cannot rotate a key with more permissions than their own,
// because rotation shows the key's new secret.
func TestKeysStayBelowTheirMaker(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		path, secret := boss.newKey("Everything", "api.lists.view", "api.contacts.manage")
		person(t, p, "kim", members.PlainMember, members.MayManageCredentials, members.MayViewLists)
		kim := newBrowser(t, p)
		kim.signIn("kim@example.com", personPassword)

		const here = "/dashboard/keys/new"
		page := kim.open(here + "?role=owner")
		kim.wants(page, "you do not have this permission")
		form := kim.form(page, here)
		if got := form["scope"]; len(got) != 1 || got[0] != "api.lists.view" {
			t.Errorf("marked beforehand: %v", got)
		}
		form.Set("name", "More")
		form.Add("scope", "api.contacts.manage")
		if status, _, text := kim.send(here, form); status != http.StatusUnprocessableEntity || !strings.Contains(text, "you do not have the permission for it") {
			t.Errorf("more than one's own: %d %s", status, text)
		}

		form = kim.form(kim.open(path+"/scopes"), path+"/scopes")
		form["scope"] = []string{"api.lists.view", "api.contacts.manage", "api.topics.view"}
		form.Set("apply", "yes")
		if status, _, _ := kim.send(path+"/scopes", form); status != http.StatusUnprocessableEntity {
			t.Errorf("adding more than one's own: %d", status)
		}
		if status, _, text := kim.send(path+"/rotate", kim.form(kim.open(path+"/rotate"), path+"/rotate")); status != http.StatusConflict || shownKey.MatchString(text) {
			t.Errorf("rotating what may do more: %d", status)
		}
		form["scope"] = []string{"api.contacts.manage"}
		if status, _, _ := kim.send(path+"/scopes", form); status != http.StatusSeeOther {
			t.Errorf("taking a scope away and keeping the other: %d", status)
		}
		calls(t, p, "/v1/lists", secret, http.StatusForbidden)
		key, err := p.DB.Keys().APIKey(t.Context(), p.OrgID, path[strings.LastIndex(path, "/")+1:])
		if err != nil || !key.Scopes.Has(core.ContactsManage) || len(key.Scopes) != 1 {
			t.Errorf("%v, %v", key.Scopes, err)
		}
	})
}
