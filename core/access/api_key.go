package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// APIKey is a key for the public API. Prefix is the first eight characters after
// sk_live_ or sk_test_, kept in plain text so that people can tell keys apart.
type APIKey struct {
	ID          string // UUID
	OrgID       string
	Name        string
	Environment core.Environment
	Prefix      string
	SecretHash  []byte // SHA-256 of the whole secret
	Scopes      core.Scopes
	CreatedAt   time.Time
	RevokedAt   *time.Time
	// ExpiresAt is set on a rotated key: the end of its 24 hours of grace.
	ExpiresAt *time.Time
}

// KeyState is where an API key is in its life.
type KeyState string

// The states of an API key.
const (
	KeyActive  KeyState = "active"
	KeyInGrace KeyState = "grace"   // rotated, and still accepted
	KeyExpired KeyState = "expired" // rotated, and its grace has ended
	KeyRevoked KeyState = "revoked" // ended by a person or the operator
)

// StateAt returns the key's state at an instant. The job that ends the grace revokes
// the key too, so the order of the two instants tells expired from revoked.
func (k APIKey) StateAt(now time.Time) KeyState {
	expired := k.ExpiresAt != nil && !now.Before(*k.ExpiresAt)
	switch {
	case k.RevokedAt != nil && (!expired || k.RevokedAt.Before(*k.ExpiresAt)):
		return KeyRevoked
	case expired:
		return KeyExpired
	case k.ExpiresAt != nil:
		return KeyInGrace
	}
	return KeyActive
}

func (k APIKey) worksAt(now time.Time) bool {
	state := k.StateAt(now)
	return state == KeyActive || state == KeyInGrace
}

// KeyStore keeps API keys. Finders and changes fail with core.CodeNotFound when the
// organization has no such key. Every method takes part in the transaction of its
// context.
type KeyStore interface {
	// InsertAPIKey fails with core.CodeConflict when the id is taken.
	InsertAPIKey(ctx context.Context, k APIKey) error
	// APIKeys finds the keys of all organizations with this environment and prefix,
	// revoked ones too. Several keys may share a prefix; the secret's hash decides.
	APIKeys(ctx context.Context, env core.Environment, prefix string) ([]APIKey, error)
	// APIKeysOf lists an organization's keys, newest first, revoked ones too.
	APIKeysOf(ctx context.Context, orgID string) ([]APIKey, error)
	// APIKey finds by id, revoked or not. In a transaction no other transaction
	// changes the key until it ends.
	APIKey(ctx context.Context, orgID, id string) (APIKey, error)
	SetAPIKeyScopes(ctx context.Context, orgID, id string, scopes core.Scopes) error
	SetAPIKeyExpiry(ctx context.Context, orgID, id string, at time.Time) error
	// APIKeysPastGrace lists keys of all organizations that expired at now or
	// before and are not revoked yet, longest expired first, at most limit.
	APIKeysPastGrace(ctx context.Context, now time.Time, limit int) ([]APIKey, error)
	// RevokeAPIKey sets the time of revocation once.
	RevokeAPIKey(ctx context.Context, orgID, id string, at time.Time) error
}
