package product

import (
	"log/slog"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/oauth"
)

// Principals tells the callers whose tokens the product issued, as another server
// over its database does: with the product's signing keys, issuer and resources.
// A test mounts operations of its own behind it.
func (p *Product) Principals(t testing.TB) *access.Authenticator {
	t.Helper()
	master, err := access.ParseMasterKey(masterKey)
	if err != nil {
		t.Fatalf("product: %v", err)
	}
	keys, err := access.NewSigningKeys(t.Context(), p.DB.SigningKeys(), master, p.Clock.Now)
	if err != nil {
		t.Fatalf("product: %v", err)
	}
	verifier, err := oauth.NewVerifier(oauth.Config{
		Issuer: p.AuthURL, APIResource: p.BaseURL, AgentResource: p.MCPURL, AuthorizeURL: p.AppURL + "/oauth/authorize", DocsURL: p.DocsURL,
		Stores: p.DB.Access(), Orgs: p.DB.Orgs(), Members: access.MemberCeilings{Members: p.DB.Members()},
		Keys: keys, Clock: p.Clock.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatalf("product: %v", err)
	}
	return access.NewAuthenticator(access.AuthenticatorConfig{
		Stores: p.DB.Access(), Orgs: p.DB.Orgs(), Members: access.MemberCeilings{Members: p.DB.Members()}, Tokens: verifier, Clock: p.Clock.Now,
	})
}
