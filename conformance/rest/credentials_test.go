package rest_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// TestCredentialsThatEnded checks that a revoked key and a key whose grace period is over
// are each refused with a specific error code. Every response with status 401 must have the
// URL of the protected-resource metadata.
func TestCredentialsThatEnded(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		metadata := `resource_metadata="` + a.BaseURL + `/.well-known/oauth-protected-resource"`
		want := `Bearer realm="Mailhelm public API", error="invalid_token", scope="api.account.view", ` + metadata
		key := func(expires *time.Time) (access.APIKey, string) {
			minted := access.MintAPIKey(core.Live)
			k := access.APIKey{
				ID: core.NewID(), OrgID: a.OrgID, Name: "ends", Environment: core.Live, Prefix: minted.Prefix,
				SecretHash: minted.Hash, Scopes: core.AllScopes(), CreatedAt: a.Clock.Now(), ExpiresAt: expires,
			}
			if err := a.DB.Keys().InsertAPIKey(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			return k, minted.Secret
		}
		revoked, secret := key(nil)
		grace := a.Clock.Now().Add(24 * time.Hour)
		_, rotated := key(&grace)
		for _, credential := range []string{secret, rotated} {
			a.as(credential).do(t, "GET", "/v1/account", "").want(200)
		}
		if err := a.DB.Keys().RevokeAPIKey(t.Context(), a.OrgID, revoked.ID, a.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		a.Clock.Advance(24 * time.Hour)
		for credential, code := range map[string]core.Code{secret: core.CodeKeyRevoked, rotated: core.CodeKeyExpired} {
			got := a.as(credential).do(t, "GET", "/v1/account", "")
			got.refused(401, code)
			if challenge := got.header.Get("WWW-Authenticate"); challenge != want {
				t.Errorf("%s: %s\nwant %s", code, challenge, want)
			}
		}
		got := a.as("").do(t, "GET", "/v1/_scopes", "")
		got.refused(401, core.CodeInvalidKey)
		if challenge := got.header.Get("WWW-Authenticate"); challenge != `Bearer realm="Mailhelm public API", `+metadata {
			t.Errorf("without a credential: %s", challenge)
		}
	})
}

// TestOrganizationWithoutAList checks that an organization without a contact list has no
// contacts. GET /v1/account must work and return null for the members that describe a
// sending account.
func TestOrganizationWithoutAList(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	org := core.Org{ID: core.NewID(), Name: "New", Slug: "new", Tier: "free", RetentionDays: 30}
	if err := a.DB.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	fresh := *a.Product
	fresh.OrgID = org.ID
	b := on(t, &fresh)
	b = b.as(b.mint(t, core.AllScopes()...))
	for _, list := range []string{"contacts", "lists", "attributes"} {
		page := b.do(t, "GET", "/v1/"+list, "").want(200)
		if p := page.page(); len(p.Data) != 0 || p.Pagination.HasMore || p.Pagination.NextCursor != nil || page.header.Get("Link") != "" {
			t.Errorf("%s: %s", list, page.body)
		}
	}
	var account map[string]any
	b.do(t, "GET", "/v1/account", "").want(200).decode(&account)
	for _, member := range []string{"aws", "send_quota", "production_access", "cloudformation"} {
		if value, there := account[member]; !there || value != nil {
			t.Errorf("%s = %v, %v", member, value, there)
		}
	}
	if len(account) != 6 {
		t.Errorf("account = %v", account)
	}
}
