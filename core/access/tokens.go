package access

import (
	"context"
	"time"
)

// AuthorizationCode is a code on its way from the consent page to the client.
// It lives 60 seconds and can be redeemed once. Only its hash is stored.
type AuthorizationCode struct {
	Hash        []byte
	GrantID     string
	OrgID       string
	ClientID    string
	RedirectURI string
	Challenge   string // S256 (RFC 7636 section 4.2)
	ExpiresAt   time.Time
}

// RefreshToken is one generation of a grant's refresh token. Only its hash is stored.
type RefreshToken struct {
	Hash     []byte
	GrantID  string
	OrgID    string
	ClientID string
	IssuedAt time.Time
}

// Redemption is the outcome of redeeming a code or a refresh token.
type Redemption int

// The outcomes; the zero value is no success. Replayed means that it was redeemed
// before, which betrays a theft: the store has revoked the grant in the same
// transaction, which the caller must let commit.
const (
	Unknown Redemption = iota
	Redeemed
	Replayed
)

// TokenStore keeps authorization codes, refresh tokens and the denylist of access
// tokens. Redeeming is atomic: of any number of concurrent callers exactly one gets
// Redeemed. Every method takes part in the transaction of its context.
type TokenStore interface {
	InsertCode(ctx context.Context, c AuthorizationCode) error
	// RedeemCode uses a code up. On Replayed it revokes the code's grant.
	RedeemCode(ctx context.Context, hash []byte, at time.Time) (AuthorizationCode, Redemption, error)

	InsertRefreshToken(ctx context.Context, t RefreshToken) error
	// PeekRefreshToken reads a token without using it up, used ones too.
	PeekRefreshToken(ctx context.Context, hash []byte) (t RefreshToken, used bool, err error)
	// RotateRefreshToken uses the old token up and stores the next, in one
	// transaction. On Replayed it revokes the grant and stores nothing.
	RotateRefreshToken(ctx context.Context, old []byte, next RefreshToken, at time.Time) (Redemption, error)

	// DenyToken puts an access token's id on the denylist until the token expires.
	DenyToken(ctx context.Context, tokenID string, expires time.Time) error
	// TokenDenied reports whether an access token's id is on the denylist.
	TokenDenied(ctx context.Context, tokenID string) (bool, error)
}
