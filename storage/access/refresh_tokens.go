package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// refreshTokenRow is a refresh token. UsedAt is set once it was exchanged for the next
// one.
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
	// refreshTokenByHash finds used tokens too, by which a replay is recognized. The
	// organization is not known before it.
	refreshTokenByHash = engine.RegisterPoint("refresh token by hash", `
		SELECT hash, org_id, grant_id, client_id, issued_at, used_at FROM refresh_tokens WHERE hash = $1`)
	// Of concurrent callers one finds used_at NULL; see redeemCode.
	useRefreshToken = engine.Register("use refresh token", `
		UPDATE refresh_tokens SET used_at = $1
		WHERE org_id = $2 AND grant_id = $3 AND client_id = $4 AND hash = $5 AND used_at IS NULL AND EXISTS (
			SELECT 1 FROM grants AS g WHERE g.org_id = $2 AND g.id = $3 AND g.revoked_at IS NULL)`)
	// Used tokens reveal a replay, so they are kept until their grant has ended.
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

// RotateRefreshToken replaces the old refresh token by next and returns the outcome. The
// outcome is Unknown if the old token belongs to another organization, grant or client
// than next. It is also Unknown if the grant was revoked before the old token was used.
// For a replay inside a transaction see RedeemCode.
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

// token converts the row, without the time of use.
func (r refreshTokenRow) token() access.RefreshToken {
	return access.RefreshToken{
		Hash: r.Hash, GrantID: r.GrantID, OrgID: r.OrgID, ClientID: r.ClientID, IssuedAt: r.IssuedAt.Time(),
	}
}

// sameFamily reports whether both tokens come from one grant to one client. Only then
// does a used token prove a replay.
func (r refreshTokenRow) sameFamily(t access.RefreshToken) bool {
	return r.OrgID == t.OrgID && r.GrantID == t.GrantID && r.ClientID == t.ClientID
}
