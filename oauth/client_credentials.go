package oauth

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// tokenResponse is the answer of the token endpoint (RFC 6749 section 5.1). The
// scope is always there, also when it is what was asked for.
type tokenResponse struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
}

// ClientCredentialsExchange is the grant of RFC 6749 section 4.4: a token for
// the client itself, bound to its organization, with no user and never with a
// refresh token. The client has proved itself already.
func (p *provider) ClientCredentialsExchange(ctx context.Context, r *op.ClientRequest[oidc.ClientCredentialsRequest]) (*op.Response, error) {
	attempt := attemptOf(ctx)
	verified, ok := r.Client.(*client)
	if !ok {
		return nil, attempt.refuse(serverError(fmt.Errorf("client of unexpected type %T", r.Client)))
	}
	scopes, refused := grantedScopes(r.PostForm.Get("scope"), verified.Scopes)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	target, refused := p.server.targets.requested(r.PostForm["resource"])
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	token, err := p.server.tokens.issue(grant{
		subject:  verified.ClientID,
		client:   verified.Client,
		audience: p.server.targets.address(target),
		scopes:   scopes,
	})
	if err != nil {
		return nil, attempt.refuse(serverError(err))
	}
	attempt.resource, attempt.tokenID = p.server.targets.address(target), token.id
	return op.NewResponse(tokenResponse{
		AccessToken: token.text,
		TokenType:   "Bearer",
		ExpiresIn:   int(access.AccessTokenLifetime.Seconds()),
		Scope:       token.scope,
	}), nil
}
