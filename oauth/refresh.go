package oauth

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// Error descriptions for refused refresh tokens.
const (
	refreshUnknown  = "The refresh token is not known, or was issued to another client."
	refreshReplayed = "The refresh token was used before. A refresh token works once, and one that is used twice may be stolen, so all tokens of this authorization are revoked; the person has to authorize again."
	refreshRevoked  = "The authorization was revoked. The person has to authorize again."
	refreshExpired  = "The refresh lifetime of this authorization is over. It counts from the authorization; the person has to authorize again."
)

// RefreshToken serves the grant type refresh_token with rotation (RFC 6749 section 6). The
// presented token becomes invalid, and the answer has a new one. All parameters are checked
// first, so that an invalid request leaves the token valid.
func (p *provider) RefreshToken(ctx context.Context, r *op.ClientRequest[oidc.RefreshTokenRequest]) (*op.Response, error) {
	attempt := attemptOf(ctx)
	registered, refused := clientOf(r.Client)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	hash := access.HashSecret(r.PostForm.Get("refresh_token"))
	allowed, refused := p.refreshing.refreshable(ctx, registered, hash, r.PostForm["resource"])
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	scopes, refused := grantedScopes(r.PostForm.Get("scope"), allowed.Scopes.Intersect(registered.Scopes))
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	next, refused := p.refreshing.rotate(ctx, registered, allowed, hash)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	return p.answers.answerPerson(attempt, personalAnswer{client: registered, allowed: allowed, scopes: scopes, refresh: next})
}

// refreshing rotates refresh tokens.
type refreshing struct {
	*families
	docsURL string
}

// refreshable returns the grant of a refresh token. It fails if this client cannot use the
// token now for the given resources. Examples are an unknown token, one of another client,
// or a revoked or expired grant. If the token was used before, it also revokes the grant.
func (f *refreshing) refreshable(ctx context.Context, registered access.Client, hash []byte, resources []string) (access.Grant, *refusal) {
	token, used, err := f.stores.Tokens.PeekRefreshToken(ctx, hash)
	if isNotFound(err) || err == nil && token.ClientID != registered.ClientID {
		return access.Grant{}, invalidGrant(refreshUnknown)
	}
	if err != nil {
		return access.Grant{}, serverError(err)
	}
	if used {
		return access.Grant{}, f.revokeReplayed(ctx, registered, token)
	}
	allowed, refused := f.authorization(ctx, token.OrgID, token.GrantID, resources)
	if refused != nil {
		return access.Grant{}, refused
	}
	if allowed.RevokedAt != nil {
		return access.Grant{}, invalidGrant(refreshRevoked)
	}
	if allowed.ExpiresAt != nil && !f.clock().Before(*allowed.ExpiresAt) {
		return access.Grant{}, invalidGrant(refreshExpired)
	}
	return allowed, nil
}

// revokeReplayed revokes the grant of a refresh token that is used a second time, and
// returns the error for the client. It records the replay in the audit log only if the
// grant was not revoked yet.
func (f *refreshing) revokeReplayed(ctx context.Context, registered access.Client, token access.RefreshToken) *refusal {
	family, err := f.stores.Grants.Grant(ctx, token.OrgID, token.GrantID)
	if err != nil {
		return serverError(err)
	}
	if family.RevokedAt == nil {
		if err := f.revokeGrant(ctx, token.OrgID, token.GrantID); err != nil {
			return serverError(err)
		}
		f.reportReplay(ctx, registered, token.GrantID, token.OrgID)
	}
	return f.refreshReplay()
}

// replayPage is the path of the documentation about reused refresh tokens.
const replayPage = "/guides/refresh-tokens"

func (f *refreshing) refreshReplay() *refusal {
	return invalidGrant(refreshReplayed).explainedAt(f.docsURL, replayPage)
}

// rotate replaces a refresh token by a new one and returns its secret. If several requests
// present the same token at the same time, one succeeds. The others are replays, which
// revoke the grant.
func (f *refreshing) rotate(ctx context.Context, registered access.Client, allowed access.Grant, old []byte) (string, *refusal) {
	now := f.clock()
	next, stored := newRefreshToken(allowed, now)
	outcome, err := f.stores.Tokens.RotateRefreshToken(ctx, old, stored, now)
	if err != nil {
		return "", serverError(err)
	}
	switch outcome {
	case access.Redeemed:
		return next, nil
	case access.Replayed:
		f.reportReplay(ctx, registered, allowed.ID, allowed.OrgID)
		return "", f.refreshReplay()
	default:
		return "", invalidGrant(refreshUnknown)
	}
}

// newRefreshToken returns a new refresh token of a grant: the secret for the client, and
// the row of refresh_tokens to store.
func newRefreshToken(allowed access.Grant, now time.Time) (string, access.RefreshToken) {
	minted := access.MintRefreshToken()
	return minted.Secret, access.RefreshToken{
		Hash: minted.Hash, GrantID: allowed.ID, OrgID: allowed.OrgID, ClientID: allowed.ClientID, IssuedAt: now,
	}
}

func isNotFound(err error) bool {
	e, ok := errors.AsType[*core.Error](err)
	return ok && e.Code == core.CodeNotFound
}
