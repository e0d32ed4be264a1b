package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store keeps organizations, people, credentials, signing keys and the audit
// log. Finders fail with core.CodeNotFound when there is nothing to find;
// inserts fail with core.CodeConflict when a unique name is taken. Every method
// takes part in the transaction of its context.
type Store interface {
	InsertOrg(ctx context.Context, org core.Org) error
	Org(ctx context.Context, orgID string) (core.Org, error)
	// OrgBySlug finds by the URL-safe name that is unique over all organizations.
	OrgBySlug(ctx context.Context, slug string) (core.Org, error)
	// OrgIDs lists every organization, oldest first, for jobs that visit all.
	OrgIDs(ctx context.Context) ([]string, error)
	// SetRateLimit sets or clears (nil) the plan's calls a minute.
	SetRateLimit(ctx context.Context, orgID string, perMinute *int) error

	// SetOrgSettings stores what org says of its name, of second factors and of
	// platform mode, for the organization with its ID.
	SetOrgSettings(ctx context.Context, org core.Org) error

	InsertUser(ctx context.Context, u User) error
	UserByEmail(ctx context.Context, email string) (User, error)
	// AddMember makes a user a member with a role: owner or member.
	AddMember(ctx context.Context, orgID, userID, role string) error

	InsertClient(ctx context.Context, c Client) error
	// Client finds by the public client id, revoked ones too.
	Client(ctx context.Context, clientID string) (Client, error)
	InsertAPIKey(ctx context.Context, k APIKey) error
	// APIKeys finds the keys with this environment and prefix, revoked ones too.
	// Several keys may share a prefix; the secret's hash decides.
	APIKeys(ctx context.Context, env core.Environment, prefix string) ([]APIKey, error)
	// RevokeClient and RevokeAPIKey set the time of revocation once.
	RevokeClient(ctx context.Context, orgID, id string, at time.Time) error
	RevokeAPIKey(ctx context.Context, orgID, id string, at time.Time) error

	// InsertSigningKey stores a key unless one that is not retired exists
	// already; it returns whether it did. Two processes that start at once on an
	// empty database end up with one key.
	InsertSigningKey(ctx context.Context, k SigningKey) (bool, error)
	// SigningKeys lists all keys, newest first.
	SigningKeys(ctx context.Context) ([]SigningKey, error)
	// HoldSigningKeys waits until nobody else changes the keys, and holds them until
	// the transaction ends.
	HoldSigningKeys(ctx context.Context) error
	// RotateSigningKey retires at the given time every key that is not retired by
	// then, and stores next in their place. It fails with core.CodeConflict when
	// another rotation was faster.
	RotateSigningKey(ctx context.Context, next SigningKey, retire time.Time) error
	// ReplaceSigningKeys forgets every key there is and stores next in their place.
	// It fails with core.CodeConflict when another rotation was faster.
	ReplaceSigningKeys(ctx context.Context, next SigningKey) error
	// PurgeSigningKeys forgets keys that were retired before the time given, and
	// returns how many.
	PurgeSigningKeys(ctx context.Context, before time.Time) (int, error)

	AppendAudit(ctx context.Context, e AuditEvent) error
	// AuditEvents lists an organization's events, newest first, at most limit.
	AuditEvents(ctx context.Context, orgID string, limit int) ([]AuditEvent, error)
	// FindAudit lists those of an organization's events that the filter takes, newest
	// first, and by id where the time is the same.
	FindAudit(ctx context.Context, orgID string, f AuditFilter) ([]AuditEvent, error)
}
