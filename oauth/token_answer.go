package oauth

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// tokenResponse is the successful answer of the token endpoint (RFC 6749 section 5.1). It
// always contains the scope, which the RFC makes optional if the requested scope was
// granted.
type tokenResponse struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
	// RefreshToken is present if the access token acts for a person.
	RefreshToken string `json:"refresh_token,omitempty"`
}

// tokenAnswers issues access tokens and makes the answers of the token endpoint.
type tokenAnswers struct {
	issuer  *tokenIssuer
	targets targets
}

// answerToken issues an access token and returns the answer of the token endpoint. refresh
// is the refresh token in the answer, or "".
func (t *tokenAnswers) answerToken(attempt *attempt, g grant, refresh string) (*op.Response, error) {
	token, err := t.issuer.issue(g)
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

// personalAnswer is the input for an answer with tokens that act for a person.
type personalAnswer struct {
	client  access.Client
	allowed access.Grant
	scopes  core.Scopes
	refresh string
}

// answerPerson issues an access token that acts for a person, and returns the answer with
// it. The token has the scopes in a.scopes, which are among those of the grant. Each use
// of the token is also limited to the person's current permissions.
func (t *tokenAnswers) answerPerson(attempt *attempt, a personalAnswer) (*op.Response, error) {
	attempt.orgID = a.allowed.OrgID
	return t.answerToken(attempt, grant{
		id: a.allowed.ID, orgID: a.allowed.OrgID, subject: a.allowed.UserID, client: a.client,
		audience: t.targets.address(a.allowed.Resource), scopes: a.scopes,
	}, a.refresh)
}
