package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// APIKey is a key for the public API. Prefix is the first eight characters after sk_live_
// or sk_test_. It is kept in plain text, so that people can tell keys apart.
type APIKey struct {
	ID          string // UUID
	OrgID       string
	Name        string
	Environment core.Environment
	Prefix      string
	SecretHash  []byte // SHA-256 of the whole secret
	Scopes      core.Scopes
	// Owner is the id of the person who created the key, or "" for a key that the operator
	// created. A key that replaces it after a rotation has the same owner, or the id of the key
	// without an owner. So records of a key belong to its replacement too.
	Owner     string
	CreatedAt time.Time
	RevokedAt *time.Time
	// ExpiresAt is the time at which a rotated key stops working, 24 hours after the
	// rotation. It is nil for a key that was not rotated.
	ExpiresAt *time.Time
}

// KeyState is the state of an API key.
type KeyState string

// The states of an API key.
const (
	KeyActive KeyState = "active"
	// The key was rotated and still works until its grace period of 24 hours ends.
	KeyInGrace KeyState = "grace"
	KeyExpired KeyState = "expired" // the key was rotated, and its 24 hours of grace have ended
	KeyRevoked KeyState = "revoked" // a person or the operator revoked the key
)

// StateAt returns the key's state at the time in the parameter now. A job sets RevokedAt on
// a rotated key after its grace, so an expired key may have both times. The earlier of
// ExpiresAt and RevokedAt decides whether the key counts as expired or as revoked.
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

// KeyStore stores API keys. Methods that read or change one key fail with core.CodeNotFound
// if the organization has no such key. Every method takes part in the transaction of its
// context.
type KeyStore interface {
	// InsertAPIKey stores an API key. It fails with core.CodeConflict when the id is taken.
	InsertAPIKey(ctx context.Context, k APIKey) error
	// APIKeys returns the keys of all organizations with this environment and prefix,
	// including revoked ones. Several keys may have the same prefix; callers compare the
	// hash of the secret.
	APIKeys(ctx context.Context, env core.Environment, prefix string) ([]APIKey, error)
	// APIKeysOf returns an organization's keys, newest first, including revoked ones.
	APIKeysOf(ctx context.Context, orgID string) ([]APIKey, error)
	// APIKey returns a key by id, revoked or not. In a transaction it locks the key until
	// the transaction ends.
	APIKey(ctx context.Context, orgID, id string) (APIKey, error)
	SetAPIKeyScopes(ctx context.Context, orgID, id string, scopes core.Scopes) error
	SetAPIKeyExpiry(ctx context.Context, orgID, id string, at time.Time) error
	// APIKeysPastGrace returns at most limit keys of all organizations that expired at or
	// before now and are not revoked. They are ordered by ExpiresAt.
	APIKeysPastGrace(ctx context.Context, now time.Time, limit int) ([]APIKey, error)
	// RevokeAPIKey sets the time at which a key was revoked. It does not change a time that
	// is set already.
	RevokeAPIKey(ctx context.Context, orgID, id string, at time.Time) error
}
