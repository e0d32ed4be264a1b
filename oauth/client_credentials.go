package oauth

import (
	"context"

	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// tokenResponse is the answer of the token endpoint (RFC 6749 section 5.1). It always has
// the scope, even if it equals the requested one.
type tokenResponse struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
	// RefreshToken is set for tokens that act for a person.
	RefreshToken string `json:"refresh_token,omitempty"`
}

// ClientCredentialsExchange serves the grant of RFC 6749 section 4.4. It issues a token
// for the client itself, bound to its organization, without a user and without a refresh
// token. The library calls it after VerifyClient.
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
	scopes, refused := grantedScopes(r.PostForm.Get("scope"), registered.Scopes)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	target, refused := p.server.targets.requestedResource(r.PostForm["resource"])
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	return p.server.answerToken(attempt, grant{
		subject:  registered.ClientID,
		orgID:    registered.OrgID,
		client:   registered,
		audience: p.server.targets.address(target),
		scopes:   scopes,
	}, "")
}

// answerToken issues an access token and returns the answer with it. refresh is the
// refresh token of the answer, or "".
func (s *Server) answerToken(attempt *attempt, g grant, refresh string) (*op.Response, error) {
	token, err := s.tokens.issue(g)
	if err != nil {
		return nil, attempt.refuse(serverError(err))
	}
	attempt.resource, attempt.tokenID, attempt.grantID = g.audience, token.id, g.id
	return op.NewResponse(tokenResponse{
		AccessToken:  token.text,
		TokenType:    "Bearer",
		ExpiresIn:    int(signing.AccessTokenLifetime.Seconds()),
		Scope:        token.scope,
		RefreshToken: refresh,
	}), nil
}
