package oauth

import (
	"context"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// ClientCredentialsExchange serves the grant type client_credentials (RFC 6749 section
// 4.4). The token is for the client itself and its organization, without a user and without
// a refresh token. The OpenID Connect library calls it after VerifyClient.
func (p *provider) ClientCredentialsExchange(ctx context.Context, r *op.ClientRequest[oidc.ClientCredentialsRequest]) (*op.Response, error) {
	attempt := attemptOf(ctx)
	registered, refused := clientOf(r.Client)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	if registered.Open() {
		return nil, attempt.refuse(unauthorizedClient("The client belongs to no organization, so it can only act for people, by authorization_code."))
	}
	if len(registered.SecretHash) == 0 {
		return nil, attempt.refuse(unauthorizedClient("A public client cannot prove who it is, so it cannot use client_credentials (RFC 6749 section 4.4)."))
	}
	if refused := p.refreshing.checkOrg(ctx, registered.OrgID); refused != nil {
		return nil, attempt.refuse(refused)
	}
	scopes, refused := grantedScopes(r.PostForm.Get("scope"), registered.Scopes)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	target, refused := p.targets.requestedResource(r.PostForm["resource"])
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	return p.answers.answerToken(attempt, grant{
		subject:  registered.ClientID,
		orgID:    registered.OrgID,
		client:   registered,
		audience: p.targets.address(target),
		scopes:   scopes,
	}, "")
}
