package oauth

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// Revocation serves token revocation (RFC 7009). Revoking a refresh token revokes its grant
// with all tokens; revoking an access token affects no other token. It ignores
// token_type_hint, because the two kinds of token look different. For an unknown or expired
// token, or one of another client, it does nothing and answers with success.
func (p *provider) Revocation(ctx context.Context, r *op.ClientRequest[oidc.RevocationRequest]) (*op.Response, error) {
	attempt := attemptOf(ctx)
	registered, refused := clientOf(r.Client)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	revoke := p.revoker.revokeAccessToken
	if access.IsRefreshToken(r.Data.Token) {
		revoke = p.revoker.revokeRefreshToken
	}
	if err := revoke(ctx, registered, r.Data.Token); err != nil {
		return nil, attempt.refuse(serverError(err))
	}
	return op.NewResponse(struct{}{}), nil
}

// revoker revokes tokens at the request of the client to which they were issued.
type revoker struct {
	*families
	own *Verifier
}

// revokeRefreshToken revokes the grant of a refresh token, and thereby all tokens of the
// grant. It does nothing if the token is unknown or was issued to another client.
func (v *revoker) revokeRefreshToken(ctx context.Context, registered access.Client, token string) error {
	found, _, err := v.stores.Tokens.PeekRefreshToken(ctx, access.HashSecret(token))
	if isNotFound(err) || err == nil && found.ClientID != registered.ClientID {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find refresh token: %w", err)
	}
	return v.revokeGrant(ctx, found.OrgID, found.GrantID)
}

// revokeAccessToken puts the id of an access token on the denylist until the token expires.
// It does nothing if the token is invalid or was issued to another client.
func (v *revoker) revokeAccessToken(ctx context.Context, registered access.Client, token string) error {
	found, err := v.own.check(ctx, token, v.clock())
	if err != nil || found.token.ClientID != registered.ClientID {
		return nil //nolint:nilerr // a token that is not good any more needs no revocation
	}
	if err := v.stores.Tokens.DenyToken(ctx, found.token.ID, found.token.ExpiresAt); err != nil {
		return fmt.Errorf("deny token: %w", err)
	}
	if v.principals != nil {
		v.principals.ForgetToken(found.token.ID)
	}
	return nil
}
