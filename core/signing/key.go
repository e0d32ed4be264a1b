package signing

import (
	"context"
	"time"
)

// Key is a stored key that signs access tokens. Sealed is the private key (PKCS #8 in DER),
// encrypted with the master key.
type Key struct {
	ID        string // the JWK's kid
	Algorithm string // "ES256"
	Sealed    []byte
	CreatedAt time.Time
	// RetiredAt is set by a rotation and may be in the future. The key signs until then. It
	// is published until its last token has expired.
	RetiredAt *time.Time
}

// Store stores signing keys. Every method takes part in the transaction of its context.
type Store interface {
	// InsertSigningKey stores a key, unless the store has a key without RetiredAt. It
	// returns whether it stored the key. So two processes that start at once on an empty
	// database use the same key.
	InsertSigningKey(ctx context.Context, k Key) (bool, error)
	// SigningKeys returns all keys, newest first.
	SigningKeys(ctx context.Context) ([]Key, error)
	// HoldSigningKeys locks the signing keys until the transaction ends. It waits for other
	// transactions that have the lock.
	HoldSigningKeys(ctx context.Context) error
	// RotateSigningKey stores the new key in the parameter next. For every other key that would
	// sign after the time in the parameter retire, it sets RetiredAt to that time. It fails
	// with core.CodeConflict if a concurrent rotation has already stored a key.
	RotateSigningKey(ctx context.Context, next Key, retire time.Time) error
	// ReplaceSigningKeys deletes all keys and stores the new key, the parameter next. It
	// fails with core.CodeConflict if a concurrent rotation has already stored a key.
	ReplaceSigningKeys(ctx context.Context, next Key) error
	// PurgeSigningKeys deletes the keys that were retired before the given time, and returns
	// their number.
	PurgeSigningKeys(ctx context.Context, before time.Time) (int, error)
}
