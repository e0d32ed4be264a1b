package bearer

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// resolveToken returns the principal of an access token, and the time at which the token
// expires.
func (a *Authenticator) resolveToken(ctx context.Context, bearer string, resource access.Resource, _ time.Time) (cachedPrincipal, time.Time, error) {
	token, err := a.from.Tokens.VerifyToken(ctx, bearer, resource)
	if err != nil {
		return refuse(err)
	}
	return a.examine(ctx, token)
}

// Examine returns the principal of a verified token. It reads the store and does not use
// the cache. It fails with invalid_key if the token, grant, client or membership has ended.
func (a *Authenticator) Examine(ctx context.Context, token Token) (core.Principal, error) {
	found, _, err := a.examine(ctx, token)
	return found.principal, err
}

// examine returns the principal of a verified token, and the time at which the token
// expires. It checks all stored records that can end a token before that time: the
// denylist, the client, the grant and the membership.
func (a *Authenticator) examine(ctx context.Context, token Token) (cachedPrincipal, time.Time, error) {
	denied, err := a.from.Stores.Tokens.IsTokenDenied(ctx, token.ID)
	if err != nil {
		return fail(err)
	}
	if denied {
		return refuse(errTokenDenied)
	}
	client, err := a.from.Stores.Clients.Client(ctx, token.ClientID)
	if core.IsNotFound(err) {
		return refuse(errClientGone)
	}
	if err != nil {
		return fail(err)
	}
	if err := a.admits(ctx, client, token); err != nil {
		return cachedPrincipal{}, time.Time{}, err
	}
	scopes := token.Scopes.Intersect(client.Scopes)
	if token.UserID != "" || token.GrantID != "" {
		ceiling, err := a.personal(ctx, token)
		if err != nil {
			return cachedPrincipal{}, time.Time{}, err
		}
		scopes = scopes.Intersect(ceiling)
	}
	org, err := a.from.Orgs.Org(ctx, token.OrgID)
	if err != nil {
		return fail(err)
	}
	if org.IsDeleted() {
		return cachedPrincipal{}, time.Time{}, core.OrgDeleted(org)
	}
	return cachedPrincipal{tokenID: token.ID, grantID: token.GrantID, principal: core.Principal{
		Org:        org,
		UserID:     token.UserID,
		Credential: core.Credential{Kind: core.OAuthClient, ID: client.ID, Name: client.ClientID, Environment: client.Environment},
		Scopes:     scopes,
	}}, token.ExpiresAt, nil
}

// admits fails with invalid_key for a revoked or blocked client and for a client of another
// organization than the token's. A client that belongs to no organization needs a person's
// grant.
func (a *Authenticator) admits(ctx context.Context, client access.Client, token Token) error {
	if client.RevokedAt != nil || !client.Open() && client.OrgID != token.OrgID {
		return core.InvalidKey(errClientGone)
	}
	if !client.Open() {
		return nil
	}
	if token.GrantID == "" {
		return core.InvalidKey(errGrantGone)
	}
	blocked, err := a.from.Stores.OpenClients.IsClientBlocked(ctx, token.OrgID, client.ClientID)
	if err != nil {
		return unavailable(err)
	}
	if blocked {
		return core.InvalidKey(errClientBlocked)
	}
	return nil
}

// personal returns the scopes that a person's grant and membership both allow now. It fails
// with invalid_key if the grant or the membership has ended.
func (a *Authenticator) personal(ctx context.Context, token Token) (core.Scopes, error) {
	grant, err := a.from.Stores.Grants.Grant(ctx, token.OrgID, token.GrantID)
	if core.IsNotFound(err) {
		return nil, core.InvalidKey(errGrantGone)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	if grant.RevokedAt != nil || grant.UserID != token.UserID || grant.ClientID != token.ClientID {
		return nil, core.InvalidKey(errGrantGone)
	}
	ceiling, err := a.from.Members.MemberScopes(ctx, token.OrgID, token.UserID)
	if core.IsNotFound(err) {
		return nil, core.InvalidKey(errMemberGone)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return grant.Scopes.Intersect(ceiling), nil
}
