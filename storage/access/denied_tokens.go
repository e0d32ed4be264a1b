package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// The denylist holds ids of access tokens that are refused before they expire. It has no
// organization column, because token ids are unique over all organizations. A token is
// looked up only after its signature was verified, so invented tokens cause no query.
var (
	denyToken = engine.Register("deny token", `
		INSERT INTO denied_tokens (token_id, expires_at) VALUES ($1, $2)
		ON CONFLICT DO NOTHING`)
	tokenDenied = engine.RegisterPoint("token denied", `SELECT 1 FROM denied_tokens WHERE token_id = $1`)
	purgeDenied = engine.Register("purge denied tokens", `DELETE FROM denied_tokens WHERE expires_at <= $1`)
)

// DenyToken adds the id of an access token to the denylist, until the token expires.
// Repeated calls have no further effect.
func (s grantStore) DenyToken(ctx context.Context, tokenID string, expires time.Time) error {
	_, err := s.db.Exec(ctx, denyToken, tokenID, engine.At(expires))
	return err
}

func (s grantStore) IsTokenDenied(ctx context.Context, tokenID string) (bool, error) {
	found, err := engine.Values[int](ctx, s.db, tokenDenied, tokenID)
	return len(found) > 0, err
}

func (s grantStore) PurgeGrants(ctx context.Context, now time.Time) (int, error) {
	purged := 0
	for _, purge := range []*engine.Statement{purgeUnredeemed, purgeCodes, purgeRefreshTokens, purgeDenied} {
		n, err := s.db.Exec(ctx, purge, engine.At(now))
		if err != nil {
			return purged, err
		}
		purged += n
	}
	return purged, nil
}
