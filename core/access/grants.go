package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Grant is what a person allowed a client to do: the root of a family of codes,
// refresh tokens and access tokens. Revoking it ends the whole family.
type Grant struct {
	ID       string
	OrgID    string
	UserID   string
	ClientID string // the public client id: oc_... or the URL of a metadata document
	Resource Resource
	Scopes   core.Scopes // the ceiling; never widened
	// CreatedAt is the authorization. ExpiresAt is the absolute end of refreshing
	// from there; nil means never. Rotation does not move it.
	CreatedAt time.Time
	ExpiresAt *time.Time
	RevokedAt *time.Time
}

// AuthorizationCode is a code on its way from the consent page to the client.
// It lives 60 seconds and is good once. Only its hash is stored.
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

// Redemption is what became of the attempt to redeem a code or a refresh token.
type Redemption int

// The outcomes; the zero value is no success. Replayed means that it was redeemed
// before, which betrays a theft: the store has revoked the grant in the same
// transaction, which the caller must let commit.
const (
	Unknown Redemption = iota
	Redeemed
	Replayed
)

// GrantStore keeps what the authorization server remembers between two requests.
// Redeeming is atomic: of any number of concurrent callers exactly one gets
// Redeemed. Everything takes part in the transaction of its context.
type GrantStore interface {
	InsertGrant(ctx context.Context, g Grant) error
	// Grant finds by id, revoked ones too.
	Grant(ctx context.Context, orgID, id string) (Grant, error)
	// Grants lists an organization's grants that are not revoked, newest first;
	// userID narrows them to one person's, "" does not. A grant whose code has not
	// been redeemed is among them until PurgeGrants takes it.
	Grants(ctx context.Context, orgID, userID string, limit int) ([]Grant, error)
	// RevokeGrant sets the time of revocation once.
	RevokeGrant(ctx context.Context, orgID, id string, at time.Time) error
	// RevokeGrantsOf revokes all grants of a client in an organization, for
	// blocking it or deleting it; it returns their ids.
	RevokeGrantsOf(ctx context.Context, orgID, clientID string, at time.Time) ([]string, error)

	// RevokeGrantsOfUser revokes all grants of a person in an organization, for when
	// they leave it; it returns their ids.
	RevokeGrantsOfUser(ctx context.Context, orgID, userID string, at time.Time) ([]string, error)

	InsertCode(ctx context.Context, c AuthorizationCode) error
	// RedeemCode uses a code up. On Replayed it revokes the code's grant.
	RedeemCode(ctx context.Context, hash []byte, at time.Time) (AuthorizationCode, Redemption, error)

	InsertRefreshToken(ctx context.Context, t RefreshToken) error
	// PeekRefreshToken reads a token without using it up, used ones too.
	PeekRefreshToken(ctx context.Context, hash []byte) (t RefreshToken, used bool, err error)
	// RotateRefreshToken uses the old token up and stores the next, in one
	// transaction. On Replayed it revokes the grant and stores nothing.
	RotateRefreshToken(ctx context.Context, old []byte, next RefreshToken, at time.Time) (Redemption, error)

	// DenyToken puts an access token's id on the denylist until it expires anyway.
	DenyToken(ctx context.Context, tokenID string, expires time.Time) error
	// TokenDenied reports whether an access token's id is on the denylist.
	TokenDenied(ctx context.Context, tokenID string) (bool, error)

	// PurgeGrants forgets codes, used refresh tokens and denylist entries that
	// expired before now, and grants whose code expired unredeemed. It returns how
	// many.
	PurgeGrants(ctx context.Context, now time.Time) (int, error)
}
