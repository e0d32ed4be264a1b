package signing

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// signingStore is [signing.Store].
type signingStore struct{ db *engine.DB }

// New returns the store of token signing keys on the database.
func New(db *engine.DB) signing.Store { return signingStore{db} }

// signingKeyRow is a key that signs access tokens. Sealed is the private key, encrypted
// with the master key. RetiredAt may be in the future; until that time the key still signs.
type signingKeyRow struct {
	ID        string       `db:"id"`
	Algorithm string       `db:"algorithm"`
	Sealed    []byte       `db:"sealed"`
	CreatedAt engine.Time  `db:"created_at"`
	RetiredAt *engine.Time `db:"retired_at"`
}

var (
	// insertSigningKey inserts a key unless the table has a key without retired_at. A unique
	// index permits only one such key, so of concurrent inserts only one succeeds.
	insertSigningKey = engine.Register("insert signing key", `
		INSERT INTO signing_keys (id, algorithm, sealed, created_at, retired_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	// signingKeys selects all keys, newest first. It includes retired keys, because tokens
	// that they signed must still be verified.
	signingKeys = engine.Register("signing keys", `
		SELECT id, algorithm, sealed, created_at, retired_at FROM signing_keys ORDER BY created_at DESC, id DESC`)
	// retireSigningKeys sets the time at which keys stop signing. It never delays a
	// retirement that is already set.
	retireSigningKeys = engine.Register("retire signing keys", `
		UPDATE signing_keys SET retired_at = $1 WHERE retired_at IS NULL OR retired_at > $1`)
	holdSigningKeys   = engine.Register("hold signing keys", `SELECT id FROM signing_keys ORDER BY id /*pg FOR UPDATE*/`)
	deleteSigningKeys = engine.Register("delete signing keys", `DELETE FROM signing_keys`)
	// purgeSigningKeys deletes keys that were retired before $1. The caller passes a time
	// before which all tokens of such keys have expired.
	purgeSigningKeys = engine.Register("purge signing keys", `DELETE FROM signing_keys WHERE retired_at < $1`)
)

func (s signingStore) InsertSigningKey(ctx context.Context, k signing.Key) (bool, error) {
	inserted, err := s.db.Exec(ctx, insertSigningKey, k.ID, k.Algorithm, k.Sealed, engine.At(k.CreatedAt), engine.OptionalAt(k.RetiredAt))
	return inserted == 1, err
}

func (s signingStore) SigningKeys(ctx context.Context) ([]signing.Key, error) {
	return engine.ListAs(ctx, s.db, signingKeyRow.key, signingKeys)
}

// key converts the row to a signing.Key.
func (r signingKeyRow) key() signing.Key {
	return signing.Key{
		ID: r.ID, Algorithm: r.Algorithm, Sealed: r.Sealed,
		CreatedAt: r.CreatedAt.Time(), RetiredAt: engine.OptionalTime(r.RetiredAt),
	}
}

// HoldSigningKeys locks the signing keys until the transaction ends. On SQLite no other
// transaction can write anyway.
func (s signingStore) HoldSigningKeys(ctx context.Context) error {
	_, err := engine.Values[string](ctx, s.db, holdSigningKeys)
	return err
}

func (s signingStore) RotateSigningKey(ctx context.Context, next signing.Key, retire time.Time) error {
	return s.succeedSigningKeys(ctx, next, retireSigningKeys, engine.At(retire))
}

// ReplaceSigningKeys deletes all signing keys and inserts the new key, the parameter next.
// All tokens that the old keys signed become invalid, in each process once it reads the
// keys again.
func (s signingStore) ReplaceSigningKeys(ctx context.Context, next signing.Key) error {
	return s.succeedSigningKeys(ctx, next, deleteSigningKeys)
}

// succeedSigningKeys runs the statement in the parameter end, which retires or deletes the
// current keys. In the same transaction it inserts the new key, the parameter next. If a
// concurrent rotation inserts its key first, the unique index prevents the insert, and the
// whole rotation is undone.
func (s signingStore) succeedSigningKeys(ctx context.Context, next signing.Key, end *engine.Statement, args ...any) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.db.Exec(ctx, end, args...); err != nil {
			return err
		}
		inserted, err := s.InsertSigningKey(ctx, next)
		if err == nil && !inserted {
			return core.Conflict("The signing keys were rotated by another process at the same time, so this rotation was undone.", "List the signing keys before you rotate them again.")
		}
		return err
	})
}

func (s signingStore) PurgeSigningKeys(ctx context.Context, before time.Time) (int, error) {
	return s.db.Exec(ctx, purgeSigningKeys, engine.At(before))
}
