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

// clientRefused is the description of every failed client authentication. One text for all
// cases reveals nothing about which client ids exist.
const clientRefused = "Client authentication failed: the client is not known or was revoked, or its secret is missing or wrong."

// VerifyClient returns the client if its secret is right, or if it is public and sends no
// secret. For an unknown client it compares hashes too, and every failure has the same
// text, so that neither time nor text reveals which client ids exist. VerifyClient reads
// the store each time, so a revoked client fails at once.
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

// find returns the stored client with this client id, or the zero client if there is none.
// It never fetches a metadata document; [Authorizations.ReadAuthorization] does.
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

// client adapts a stored client to op.Client, the interface of the OpenID Connect library.
// Most of its methods concern ID tokens and login pages, which this server does not have.
type client struct{ access.Client }

// These methods implement op.Client.

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

// keepNone returns no scopes. The OpenID Connect library uses it for ID tokens, which this
// server does not issue.
func keepNone([]string) []string { return nil }
