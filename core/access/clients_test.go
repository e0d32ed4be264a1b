package access_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func (g *gate) newClient() access.NewClient {
	return access.NewClient{
		OrgID: g.org.ID, Name: "Agent", Environment: core.Live, Scopes: core.NewScopes("api.lists.view"),
		RedirectURIs: []string{"https://agent.example.com/cb"}, RefreshDays: 90,
	}
}

func TestLifeOfAClient(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		l := g.lifecycle()
		c, secret, err := l.CreateClient(ctx, operator, g.newClient())
		g.must(err)
		if !strings.HasPrefix(secret, "ocs_") || !access.SecretMatches(c.SecretHash, secret) || !access.IsClientID(c.ClientID) {
			t.Errorf("client %+v", c)
		}
		public := g.newClient()
		public.Public = true
		p, none, err := l.CreateClient(ctx, operator, public)
		if err != nil || none != "" || p.SecretHash != nil {
			t.Errorf("a public client: secret %q, %v", none, err)
		}

		c.Name, c.Scopes, c.RefreshDays = "Other", core.NewScopes("api.topics.view"), 0
		c.RedirectURIs = []string{"http://localhost:3000/cb"}
		edited, err := l.EditClient(ctx, operator, c)
		g.must(err)
		stored, err := g.db.Clients().Client(ctx, c.ClientID)
		g.must(err)
		if diff := cmp.Diff(c, edited) + cmp.Diff(c, stored); diff != "" {
			t.Errorf("edited (-want +got):\n%s", diff)
		}
		rotated, next, err := l.RotateClientSecret(ctx, operator, g.org.ID, c.ID)
		g.must(err)
		if stored, err = g.db.Clients().Client(ctx, c.ClientID); err != nil || access.SecretMatches(stored.SecretHash, secret) ||
			!access.SecretMatches(stored.SecretHash, next) || !cmp.Equal(rotated, stored) {
			t.Errorf("rotated: %+v, %v", stored, err)
		}
		_, _, err = l.RotateClientSecret(ctx, operator, g.org.ID, p.ID)
		g.wantCode("a secret for a public client", err, core.CodeConflict)
		_, _, err = l.RotateClientSecret(ctx, operator, core.NewID(), c.ID)
		g.wantCode("the secret of another organization's client", err, core.CodeNotFound)
		for range 2 { // the second changes nothing
			_, err = l.RevokeClient(ctx, operator, g.org.ID, c.ID)
			g.must(err)
		}
		if stored, err = g.db.Clients().Client(ctx, c.ClientID); err != nil || stored.RevokedAt == nil {
			t.Errorf("revoked: %+v, %v", stored, err)
		}
		_, err = l.EditClient(ctx, operator, c)
		g.wantCode("editing a revoked client", err, core.CodeConflict)
		_, _, err = l.RotateClientSecret(ctx, operator, g.org.ID, c.ID)
		g.wantCode("a secret for a revoked client", err, core.CodeConflict)
		_, err = l.RevokeClient(ctx, operator, core.NewID(), p.ID)
		g.wantCode("another organization's client", err, core.CodeNotFound)

		by, made := "operator operator", `{"environment":"live","scopes":["api.lists.view"]}`
		want := []line{
			{"oauth_client.created", by, c.ID, made},
			{"oauth_client.created", by, p.ID, made},
			{"oauth_client.updated", by, c.ID, `{"added":["api.topics.view"],"removed":["api.lists.view"],"name":{"before":"Agent","after":"Other"},` +
				`"redirect_uris":{"before":["https://agent.example.com/cb"],"after":["http://localhost:3000/cb"]},"refresh_days":{"before":90,"after":0}}`},
			{"oauth_client.secret_rotated", by, c.ID, `{}`},
			{"oauth_client.revoked", by, c.ID, `{}`},
		}
		if diff := cmp.Diff(want, g.auditLines()); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}

func TestInvalidClientRegistrationsAreRefused(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	for what, change := range map[string]func(*access.NewClient){
		"an odd lifetime":       func(n *access.NewClient) { n.RefreshDays = 31 },
		"a negative lifetime":   func(n *access.NewClient) { n.RefreshDays = -1 },
		"public, no redirect":   func(n *access.NewClient) { n.Public, n.RedirectURIs = true, nil },
		"21 redirects":          func(n *access.NewClient) { n.RedirectURIs = strings.Fields(strings.Repeat("https://a.example/ ", 21)) },
		"another environment":   func(n *access.NewClient) { n.Environment = "prod" },
		"an unknown scope":      func(n *access.NewClient) { n.Scopes = core.Scopes{"mcp"} },
		"a name without an end": func(n *access.NewClient) { n.Name = strings.Repeat("a", 101) },
	} {
		n := g.newClient()
		change(&n)
		_, _, err := g.lifecycle().CreateClient(t.Context(), operator, n)
		g.wantCode(what, err, core.CodeValidationFailed)
	}
	for uri, ok := range map[string]bool{
		"https://a.example/cb?x=1": true, "http://localhost/cb": true, "http://127.0.0.1:99/": true, "http://[::1]:99/": true,
		"http://a.example/cb": false, "https://*.example/cb": false, "https://a.example/#f": false, "https://u@a.example/": false,
		"javascript:alert(1)": false, "/cb": false, "": false, "https://": false, "https://a.example/\\b": false, "https://a.example/ b": false,
		"http://localhost.evil.example/": false, "https://ä.example/": false, "com.example:/cb": false, "HTTPS://a.example/": false,
		"https://a.example/" + strings.Repeat("a", 2000): false,
	} {
		n := g.newClient()
		n.RedirectURIs = []string{uri}
		if _, _, err := g.lifecycle().CreateClient(t.Context(), operator, n); (err == nil) != ok {
			t.Errorf("redirect %.40q: %v", uri, err)
		}
	}
}
