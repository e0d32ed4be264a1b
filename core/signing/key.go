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
	// RetiredAt is set by a rotation and may be in the future. Until then the key signs.
	// Afterwards it is published as long as its tokens are valid.
	RetiredAt *time.Time
}

// Store stores signing keys. Every method takes part in the transaction of its context.
type Store interface {
	// InsertSigningKey stores a key unless there is one that is not retired. It returns
	// whether it stored the key. So two processes that start at once on an empty database
	// use the same key.
	InsertSigningKey(ctx context.Context, k Key) (bool, error)
	// SigningKeys returns all keys, newest first.
	SigningKeys(ctx context.Context) ([]Key, error)
	// HoldSigningKeys locks the keys until the transaction ends. It waits for other
	// transactions that change them.
	HoldSigningKeys(ctx context.Context) error
	// RotateSigningKey sets the retirement of every key that is not retired by the given
	// time to that time, and stores next. It fails with core.CodeConflict when another
	// rotation was faster.
	RotateSigningKey(ctx context.Context, next Key, retire time.Time) error
	// ReplaceSigningKeys deletes every key and stores next. It fails with core.CodeConflict
	// when another rotation was faster.
	ReplaceSigningKeys(ctx context.Context, next Key) error
	// PurgeSigningKeys deletes keys that were retired before the time given, and
	// returns how many.
	PurgeSigningKeys(ctx context.Context, before time.Time) (int, error)
}
