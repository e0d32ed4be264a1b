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

// GrantStore keeps grants. Finders and changes fail with core.CodeNotFound. Every
// method takes part in the transaction of its context.
type GrantStore interface {
	InsertGrant(ctx context.Context, g Grant) error
	// Grant finds by id, revoked or not.
	Grant(ctx context.Context, orgID, id string) (Grant, error)
	// Grants lists an organization's grants that are not revoked, newest first;
	// userID narrows them to one person's, "" does not. A grant whose code has not
	// been redeemed is among them until PurgeGrants deletes it.
	Grants(ctx context.Context, orgID, userID string, limit int) ([]Grant, error)
	// RevokeGrant sets the time of revocation once.
	RevokeGrant(ctx context.Context, orgID, id string, at time.Time) error
	// RevokeGrantsOf revokes all grants of a client in an organization, for
	// blocking it or deleting it; it returns their ids.
	RevokeGrantsOf(ctx context.Context, orgID, clientID string, at time.Time) ([]string, error)
	// RevokeGrantsOfUser revokes all grants of a person in an organization, for when
	// they leave it; it returns their ids.
	RevokeGrantsOfUser(ctx context.Context, orgID, userID string, at time.Time) ([]string, error)
	// PurgeGrants deletes codes, used refresh tokens and denylist entries that
	// expired before now, and grants whose code expired unredeemed. It returns how
	// many.
	PurgeGrants(ctx context.Context, now time.Time) (int, error)
}
