package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Grant is a person's permission for an OAuth client. Authorization codes, refresh tokens
// and access tokens are issued under it. Revoking the grant ends all of them.
type Grant struct {
	ID       string
	OrgID    string
	UserID   string
	ClientID string // the public client id: oc_... or the URL of a metadata document
	Resource Resource
	Scopes   core.Scopes // the scopes that tokens of this grant can have at most; never extended
	// CreatedAt is the time of the authorization. ExpiresAt is the time after which the
	// grant can no longer be refreshed; nil means never. A refresh does not change either.
	CreatedAt time.Time
	ExpiresAt *time.Time
	RevokedAt *time.Time
}

// GrantFilter selects grants of an organization. Empty fields select all; Limit is required.
type GrantFilter struct {
	UserID string
	// ExceptUserID leaves out the grants of this person.
	ExceptUserID string
	// ClientID is the public client id.
	ClientID string
	// AtAgent selects only grants whose tokens the agent endpoint accepts.
	AtAgent bool
	// Limit is the maximum number of returned grants.
	Limit int
}

// GrantStore stores grants. Methods that read or change one grant fail with
// core.CodeNotFound if the organization has no such grant. Every method takes part in the
// transaction of its context.
type GrantStore interface {
	InsertGrant(ctx context.Context, g Grant) error
	// Grant returns a grant by id, revoked or not.
	Grant(ctx context.Context, orgID, id string) (Grant, error)
	// Grants returns the grants of an organization that match the filter and are not revoked,
	// newest first. The result includes grants whose authorization code was not redeemed,
	// until PurgeGrants deletes them.
	Grants(ctx context.Context, orgID string, f GrantFilter) ([]Grant, error)
	// RevokeGrant sets the time at which a grant was revoked. It does not change a time that
	// is set already.
	RevokeGrant(ctx context.Context, orgID, id string, at time.Time) error
	// RevokeGrantsOf revokes all grants of a client in an organization and returns their
	// ids. It is called when the client is blocked, unblocked or revoked.
	RevokeGrantsOf(ctx context.Context, orgID, clientID string, at time.Time) ([]string, error)
	// RevokeGrantsOfUser revokes all grants of a person in an organization and returns their
	// ids. It is called when the person's membership ends.
	RevokeGrantsOfUser(ctx context.Context, orgID, userID string, at time.Time) ([]string, error)
	// PurgeGrants deletes authorization codes, used refresh tokens and denylist entries that
	// expired before now. It also deletes grants whose code expired before a client redeemed
	// it. It returns the number of deleted rows.
	PurgeGrants(ctx context.Context, now time.Time) (int, error)
}
