package oauth

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// Revocation serves RFC 7009. A refresh token ends its whole family; an access token ends
// alone. It ignores the hint, because the two kinds look different. For an unknown,
// expired or foreign token it answers success and does nothing.
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

// revoker revokes tokens for the client to which they were issued.
type revoker struct {
	*families
	own *Verifier
}

// revokeRefreshToken revokes the grant of a refresh token, with all its tokens. It does
// nothing for an unknown or foreign token.
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

// revokeAccessToken puts the token's id on the denylist until the token expires. It does
// nothing for an invalid or foreign token.
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
