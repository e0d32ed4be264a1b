package storage

import (
	"context"

	"github.com/mailhelm/mailhelm/core/access"
)

type signingKeyRow struct {
	ID        string `db:"id"`
	Algorithm string `db:"algorithm"`
	Sealed    []byte `db:"sealed"`
	CreatedAt Time   `db:"created_at"`
	RetiredAt *Time  `db:"retired_at"`
}

var (
	// A unique index admits one key that is not retired, so of two processes that
	// insert at once one does nothing.
	insertSigningKey = register("insert signing key", `
		INSERT INTO signing_keys (id, algorithm, sealed, created_at, retired_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	signingKeys = register("signing keys", `
		SELECT id, algorithm, sealed, created_at, retired_at FROM signing_keys ORDER BY created_at DESC, id DESC`)
)

func (s accessStore) InsertSigningKey(ctx context.Context, k access.SigningKey) (bool, error) {
	inserted, err := s.db.exec(ctx, insertSigningKey, k.ID, k.Algorithm, k.Sealed, At(k.CreatedAt), optionalAt(k.RetiredAt))
	return inserted == 1, err
}

func (s accessStore) SigningKeys(ctx context.Context) ([]access.SigningKey, error) {
	rows, err := list[signingKeyRow](ctx, s.db, signingKeys)
	if err != nil {
		return nil, err
	}
	keys := make([]access.SigningKey, len(rows))
	for i, row := range rows {
		keys[i] = access.SigningKey{
			ID: row.ID, Algorithm: row.Algorithm, Sealed: row.Sealed,
			CreatedAt: row.CreatedAt.Time(), RetiredAt: optionalTime(row.RetiredAt),
		}
	}
	return keys, nil
}
