package access

import (
	"context"
	"time"
)

// AuthorizationCode is issued by the consent page and redeemed by the client. It is valid
// for 60 seconds and can be redeemed once. Only its hash is stored.
type AuthorizationCode struct {
	Hash        []byte
	GrantID     string
	OrgID       string
	ClientID    string
	RedirectURI string
	Challenge   string // S256 (RFC 7636 section 4.2)
	ExpiresAt   time.Time
}

// RefreshToken is one refresh token of a grant. Each use replaces it with a new one. Only
// its hash is stored.
type RefreshToken struct {
	Hash     []byte
	GrantID  string
	OrgID    string
	ClientID string
	IssuedAt time.Time
}

// Redemption is the outcome of redeeming an authorization code or a refresh token.
type Redemption int

// The outcomes of a redemption. The zero value is not success. Replayed means that the code
// or token was redeemed before, which is a sign of theft. The store has then revoked the
// grant in the same transaction, which the caller must commit.
const (
	Unknown Redemption = iota
	Redeemed
	Replayed
)

// TokenStore stores authorization codes, refresh tokens and the denylist of access tokens.
// Redeeming is atomic: of any number of concurrent callers, exactly one gets Redeemed. Every
// method takes part in the transaction of its context.
type TokenStore interface {
	InsertCode(ctx context.Context, c AuthorizationCode) error
	// RedeemCode marks a code as used and returns it. If the code was used before, it
	// returns Replayed and revokes the code's grant.
	RedeemCode(ctx context.Context, hash []byte, at time.Time) (AuthorizationCode, Redemption, error)

	InsertRefreshToken(ctx context.Context, t RefreshToken) error
	// PeekRefreshToken returns a refresh token and whether it was used, without marking it
	// as used.
	PeekRefreshToken(ctx context.Context, hash []byte) (t RefreshToken, used bool, err error)
	// RotateRefreshToken marks the old token as used and stores the next, in one
	// transaction. If the old token was used before, it returns Replayed, revokes the grant
	// and stores nothing.
	RotateRefreshToken(ctx context.Context, old []byte, next RefreshToken, at time.Time) (Redemption, error)

	// DenyToken puts an access token's id on the denylist until the token expires.
	DenyToken(ctx context.Context, tokenID string, expires time.Time) error
	// IsTokenDenied reports whether an access token's id is on the denylist.
	IsTokenDenied(ctx context.Context, tokenID string) (bool, error)
}
