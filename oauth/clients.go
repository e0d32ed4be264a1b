package oauth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// clientRefused is the one text for all failures of client authentication, so that trying
// ids reveals nothing.
const clientRefused = "Client authentication failed: the client is not known or was revoked, or its secret is missing or wrong."

// VerifyClient returns the client if the secret is right. An unknown client costs the
// same comparison as a known one, and every failure has the same text. It reads the store
// each time, so that a revoked client gets no more tokens.
func (p *provider) VerifyClient(ctx context.Context, r *op.Request[op.ClientCredentials]) (op.Client, error) {
	attempt := attemptOf(ctx)
	found, err := p.clients.find(ctx, r.Data.ClientID)
	if err != nil {
		return nil, attempt.refuse(serverError(err))
	}
	matches := access.SecretMatches(found.SecretHash, r.Data.ClientSecret)
	public := found.ID != "" && len(found.SecretHash) == 0 && r.Data.ClientSecret == ""
	if !matches && !public || found.RevokedAt != nil {
		return nil, attempt.refuse(invalidClient(clientRefused))
	}
	attempt.orgID, attempt.known = found.OrgID, true
	return &client{found}, nil
}

// clientFinder finds stored clients.
type clientFinder struct{ store access.ClientStore }

// find returns the zero client for an unknown id. It fetches nothing: a metadata
// document is read when a person is asked; later requests use the stored client.
func (f clientFinder) find(ctx context.Context, clientID string) (access.Client, error) {
	if !access.IsClientID(clientID) && !access.IsDocumentClientID(clientID) {
		return access.Client{}, nil
	}
	found, err := f.store.Client(ctx, clientID)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeNotFound {
		return access.Client{}, nil
	}
	if err != nil {
		return access.Client{}, fmt.Errorf("find client: %w", err)
	}
	return found, nil
}

// client is a stored client as the library's op.Client. Most of that interface concerns
// id tokens and login pages, which the grants here do not have.
type client struct{ access.Client }

// The methods are those of op.Client.

func (c *client) GetID() string                       { return c.ClientID }
func (c *client) RedirectURIs() []string              { return nil }
func (c *client) PostLogoutRedirectURIs() []string    { return nil }
func (c *client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c *client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (c *client) ResponseTypes() []oidc.ResponseType  { return nil }
func (c *client) GrantTypes() []oidc.GrantType        { return grants }
func (c *client) LoginURL(string) string              { return "" }
func (c *client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }
func (c *client) IDTokenLifetime() time.Duration      { return 0 }
func (c *client) DevMode() bool                       { return false }
func (c *client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return keepNone
}
func (c *client) RestrictAdditionalAccessTokenScopes() func([]string) []string { return keepNone }
func (c *client) IsScopeAllowed(scope string) bool                             { return c.Scopes.Has(core.Scope(scope)) }
func (c *client) IDTokenUserinfoClaimsAssertion() bool                         { return false }
func (c *client) ClockSkew() time.Duration                                     { return 0 }

// keepNone drops all scopes: ID tokens, which would carry them, are not issued.
func keepNone([]string) []string { return nil }
