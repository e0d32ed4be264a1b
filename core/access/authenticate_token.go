package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// byToken finds the principal behind an access token. Everything that can end a
// token before its time is asked for here.
func (a *Authenticator) byToken(ctx context.Context, bearer string, resource Resource, _ time.Time) (known, time.Time, error) {
	token, err := a.from.Tokens.VerifyToken(ctx, bearer, resource)
	if err != nil {
		return refuse(err)
	}
	denied, err := a.from.Grants.TokenDenied(ctx, token.ID)
	if err != nil {
		return fail(err)
	}
	if denied {
		return refuse(errTokenDenied)
	}
	client, err := a.from.Store.Client(ctx, token.ClientID)
	if isNotFound(err) {
		return refuse(errClientGone)
	}
	if err != nil {
		return fail(err)
	}
	if client.RevokedAt != nil || client.OrgID != token.OrgID {
		return refuse(errClientGone)
	}
	scopes := token.Scopes.Intersect(client.Scopes)
	if token.UserID != "" || token.GrantID != "" {
		ceiling, err := a.personal(ctx, token)
		if err != nil {
			return known{}, time.Time{}, err
		}
		scopes = scopes.Intersect(ceiling)
	}
	org, err := a.from.Store.Org(ctx, client.OrgID)
	if err != nil {
		return fail(err)
	}
	return known{tokenID: token.ID, grantID: token.GrantID, principal: core.Principal{
		Org:        org,
		UserID:     token.UserID,
		Credential: core.Credential{Kind: core.OAuthClient, ID: client.ID, Name: client.ClientID, Environment: client.Environment},
		Scopes:     scopes,
	}}, token.ExpiresAt, nil
}

// personal is what a token that acts for a person may at most do now: what the
// person allowed, as far as the person may do it.
func (a *Authenticator) personal(ctx context.Context, token Token) (core.Scopes, error) {
	grant, err := a.from.Grants.Grant(ctx, token.OrgID, token.GrantID)
	if isNotFound(err) {
		return nil, invalidKey(errGrantGone)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	if grant.RevokedAt != nil || grant.UserID != token.UserID || grant.ClientID != token.ClientID {
		return nil, invalidKey(errGrantGone)
	}
	member, err := a.from.Members.Member(ctx, token.OrgID, token.UserID)
	if isNotFound(err) {
		return nil, invalidKey(errMemberGone)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return grant.Scopes.Intersect(member.Scopes()), nil
}
