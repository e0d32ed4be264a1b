package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// refreshTokenRow is a row of refresh_tokens. UsedAt is the time at which the token was
// exchanged for the next token; nil means not yet.
type refreshTokenRow struct {
	Hash     []byte       `db:"hash"`
	OrgID    string       `db:"org_id"`
	GrantID  string       `db:"grant_id"`
	ClientID string       `db:"client_id"`
	IssuedAt engine.Time  `db:"issued_at"`
	UsedAt   *engine.Time `db:"used_at"`
}

var (
	insertRefreshToken = engine.Register("insert refresh token", `
		INSERT INTO refresh_tokens (org_id, hash, grant_id, client_id, issued_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	// refreshTokenByHash selects a refresh token, even if it was used, so that a replay is
	// detected. It searches all organizations, because a request has only the token.
	refreshTokenByHash = engine.RegisterPoint("refresh token by hash", `
		SELECT hash, org_id, grant_id, client_id, issued_at, used_at FROM refresh_tokens WHERE hash = $1`)
	// useRefreshToken marks a token as used. Of concurrent calls only one changes the row,
	// because only one finds used_at NULL.
	useRefreshToken = engine.Register("use refresh token", `
		UPDATE refresh_tokens SET used_at = $1
		WHERE org_id = $2 AND grant_id = $3 AND client_id = $4 AND hash = $5 AND used_at IS NULL AND EXISTS (
			SELECT 1 FROM grants AS g WHERE g.org_id = $2 AND g.id = $3 AND g.revoked_at IS NULL)`)
	// purgeRefreshTokens deletes used tokens whose grant has expired or was revoked. Until
	// then they are needed to detect a replay.
	purgeRefreshTokens = engine.Register("purge refresh tokens", `
		DELETE FROM refresh_tokens WHERE used_at IS NOT NULL AND EXISTS (
			SELECT 1 FROM grants AS g WHERE g.org_id = refresh_tokens.org_id AND g.id = refresh_tokens.grant_id
			AND (g.expires_at <= $1 OR g.revoked_at <= $1))`)
)

func (s grantStore) InsertRefreshToken(ctx context.Context, t access.RefreshToken) error {
	taken := core.Conflict("This refresh token exists already.", "Mint another token.")
	return s.db.Insert(ctx, taken, insertRefreshToken, t.OrgID, t.Hash, t.GrantID, t.ClientID, engine.At(t.IssuedAt))
}

func (s grantStore) PeekRefreshToken(ctx context.Context, hash []byte) (access.RefreshToken, bool, error) {
	row, err := engine.One[refreshTokenRow](ctx, s.db, "refresh token", refreshTokenByHash, hash)
	if err != nil {
		return access.RefreshToken{}, false, err
	}
	return row.token(), row.UsedAt != nil, nil
}

// RotateRefreshToken marks the refresh token with the hash in old as used, stores the token
// next, and returns Redeemed. If it returns Replayed or Unknown, it has changed neither
// token.
//
// Replayed means that the old token was used before; its grant is then revoked. Unknown
// means that the old token does not exist, or does not belong to the organization, grant
// and client of next. It also means that the grant was revoked while the old token was
// unused. Inside a transaction a caller must not return an error after Replayed, because
// that would undo the revocation.
func (s grantStore) RotateRefreshToken(ctx context.Context, old []byte, next access.RefreshToken, at time.Time) (access.Redemption, error) {
	outcome := access.Unknown
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		outcome = access.Unknown // reset after an earlier attempt
		used, err := s.db.Exec(ctx, useRefreshToken, engine.At(at), next.OrgID, next.GrantID, next.ClientID, old)
		if err != nil {
			return err
		}
		if used == 1 {
			outcome = access.Redeemed
			return s.InsertRefreshToken(ctx, next)
		}
		found, err := engine.List[refreshTokenRow](ctx, s.db, refreshTokenByHash, old)
		if err != nil || len(found) == 0 || found[0].UsedAt == nil || !found[0].sameFamily(next) {
			return err
		}
		outcome = access.Replayed
		return s.RevokeGrant(ctx, next.OrgID, next.GrantID, at)
	})
	if err != nil {
		return access.Unknown, err
	}
	return outcome, nil
}

// token converts the row to an access.RefreshToken. It omits UsedAt, because that type has
// no such field.
func (r refreshTokenRow) token() access.RefreshToken {
	return access.RefreshToken{
		Hash: r.Hash, GrantID: r.GrantID, OrgID: r.OrgID, ClientID: r.ClientID, IssuedAt: r.IssuedAt.Time(),
	}
}

// sameFamily reports whether both tokens belong to the same grant and client. Only then is
// the second use of a token a replay.
func (r refreshTokenRow) sameFamily(t access.RefreshToken) bool {
	return r.OrgID == t.OrgID && r.GrantID == t.GrantID && r.ClientID == t.ClientID
}
