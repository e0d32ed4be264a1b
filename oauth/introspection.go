package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// introspection is the JSON answer about a token (RFC 7662 section 2.2). If the token is
// invalid, or the client may not introspect it, only Active is present, and it is false.
type introspection struct {
	Active bool `json:"active"`
	// Scope has the token's scopes that are valid now, which can be fewer than at its issue.
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"` // of access tokens alone
	Expires   int64  `json:"exp,omitempty"`
	IssuedAt  int64  `json:"iat,omitempty"`
	Subject   string `json:"sub,omitempty"`
	Audience  string `json:"aud,omitempty"`
	Issuer    string `json:"iss,omitempty"`
	ID        string `json:"jti,omitempty"`
}

// checkIntrospection fails if the parameter `token` is missing.
func checkIntrospection(form url.Values) *refusal {
	if !form.Has("token") {
		return invalidRequest("`token` is missing.")
	}
	return nil
}

// confidential returns a handler that refuses introspection requests without a client
// secret. It passes all other requests to the handler in the parameter library. The OpenID
// Connect library would refuse requests without a secret too, but without the header
// WWW-Authenticate.
func confidential(library http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Authorization"]) == 0 && !r.PostForm.Has("client_secret") {
			refused := invalidClient("Only a client with a secret may introspect tokens.")
			attemptOf(r.Context()).refused = refused
			refused.write(w)
			return
		}
		library.ServeHTTP(w, r)
	})
}

// Introspect serves token introspection (RFC 7662) for clients with a secret. A client may
// introspect all tokens of its organization. A client without an organization may
// introspect only its own tokens. Introspect verifies the secret itself, because the OpenID
// Connect library does not.
func (p *provider) Introspect(ctx context.Context, r *op.Request[op.IntrospectionRequest]) (*op.Response, error) {
	verified, err := p.VerifyClient(ctx, &op.Request[op.ClientCredentials]{Data: r.Data.ClientCredentials})
	if err != nil {
		return nil, err
	}
	attempt := attemptOf(ctx)
	asker, refused := clientOf(verified)
	if refused == nil && len(asker.SecretHash) == 0 {
		refused = invalidClient(clientRefused)
	}
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	attempt.asked = true
	ask := p.introspector.introspectAccessToken
	if access.IsRefreshToken(r.Data.Token) {
		ask = p.introspector.introspectRefreshToken
	}
	result, err := ask(ctx, asker, r.Data.Token)
	if err != nil {
		return nil, attempt.refuse(serverError(err))
	}
	return op.NewResponse(result), nil
}

// mayAsk reports whether the client asker may introspect a token. orgID and clientID are
// the organization and the client of the token.
func mayAsk(asker access.Client, orgID, clientID string) bool {
	if asker.OrgID == "" {
		return asker.ClientID == clientID
	}
	return asker.OrgID == orgID
}

// introspector makes introspection answers from the current content of the store.
type introspector struct {
	stores   access.Stores
	own      *Verifier
	examiner *bearer.Authenticator // reads past the caches
	targets  targets
	issuer   string
	clock    core.Clock
}

// introspectAccessToken returns the answer about an access token. The answer is the same
// for every invalid token: not active.
func (i *introspector) introspectAccessToken(ctx context.Context, asker access.Client, token string) (introspection, error) {
	found, err := i.own.check(ctx, token, i.clock())
	if err != nil || !mayAsk(asker, found.token.OrgID, found.token.ClientID) {
		return introspection{}, nil //nolint:nilerr // the reason must not be told
	}
	result, err := i.readCurrent(ctx, found.token, found.resource)
	if result.Active {
		result.TokenType, result.ID, result.IssuedAt = "Bearer", found.token.ID, found.issuedAt
		result.Expires = found.token.ExpiresAt.Unix()
	}
	return result, err
}

// introspectRefreshToken returns the answer about a refresh token. The scopes in the answer
// are those that a new access token would get if the refresh token were used now.
func (i *introspector) introspectRefreshToken(ctx context.Context, asker access.Client, token string) (introspection, error) {
	found, used, err := i.stores.Tokens.PeekRefreshToken(ctx, access.HashSecret(token))
	if isNotFound(err) || err == nil && (used || !mayAsk(asker, found.OrgID, found.ClientID)) {
		return introspection{}, nil
	}
	if err != nil {
		return introspection{}, err
	}
	allowed, err := i.stores.Grants.Grant(ctx, found.OrgID, found.GrantID)
	if isNotFound(err) || err == nil && allowed.ExpiresAt != nil && !i.clock().Before(*allowed.ExpiresAt) {
		return introspection{}, nil
	}
	if err != nil {
		return introspection{}, err
	}
	result, err := i.readCurrent(ctx, bearer.Token{
		ClientID: allowed.ClientID, OrgID: allowed.OrgID, UserID: allowed.UserID, GrantID: allowed.ID, Scopes: allowed.Scopes,
	}, allowed.Resource)
	if result.Active {
		result.IssuedAt = found.IssuedAt.Unix()
		if allowed.ExpiresAt != nil {
			result.Expires = allowed.ExpiresAt.Unix()
		}
	}
	return result, err
}

// readCurrent returns the answer about a token with its current scopes, from the store and
// not from this process's caches. The answer is not active if the token is no longer
// accepted.
func (i *introspector) readCurrent(ctx context.Context, token bearer.Token, resource access.Resource) (introspection, error) {
	principal, err := i.examiner.Examine(ctx, token)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeInvalidKey {
		return introspection{}, nil
	}
	if err != nil {
		return introspection{}, err
	}
	result := introspection{
		Active: true, Scope: principal.Scopes.Join(), ClientID: token.ClientID,
		Subject: token.UserID, Audience: i.targets.address(resource), Issuer: i.issuer,
	}
	if result.Subject == "" {
		result.Subject = token.ClientID
	}
	return result, nil
}
