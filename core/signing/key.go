package signing

import (
	"context"
	"time"
)

// Key signs access tokens. Sealed is the private key, PKCS #8 in DER,
// encrypted with the master key.
type Key struct {
	ID        string // the JWK's kid
	Algorithm string // "ES256"
	Sealed    []byte
	CreatedAt time.Time
	// RetiredAt is set by a rotation and may lie ahead. Until then the key signs.
	// Afterwards it is published for as long as its tokens live.
	RetiredAt *time.Time
}

// Store keeps signing keys. Every method takes part in the transaction of its
// context.
type Store interface {
	// InsertSigningKey stores a key unless one that is not retired exists
	// already; it returns whether it did. Two processes that start at once on an
	// empty database end up with one key.
	InsertSigningKey(ctx context.Context, k Key) (bool, error)
	// Keys lists all keys, newest first.
	SigningKeys(ctx context.Context) ([]Key, error)
	// HoldSigningKeys waits until no other transaction changes the keys, and holds
	// them until its own transaction ends.
	HoldSigningKeys(ctx context.Context) error
	// RotateSigningKey retires at the given time every key that is not retired by
	// then, and stores next in their place. It fails with core.CodeConflict when
	// another rotation was faster.
	RotateSigningKey(ctx context.Context, next Key, retire time.Time) error
	// ReplaceSigningKeys deletes every key and stores next in their place. It fails
	// with core.CodeConflict when another rotation was faster.
	ReplaceSigningKeys(ctx context.Context, next Key) error
	// PurgeSigningKeys deletes keys that were retired before the time given, and
	// returns how many.
	PurgeSigningKeys(ctx context.Context, before time.Time) (int, error)
}
