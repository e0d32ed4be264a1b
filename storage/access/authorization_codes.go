package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// codeRow is an authorization code. Only the hash of the code itself is stored.
type codeRow struct {
	Hash        []byte      `db:"hash"`
	OrgID       string      `db:"org_id"`
	GrantID     string      `db:"grant_id"`
	ClientID    string      `db:"client_id"`
	RedirectURI string      `db:"redirect_uri"`
	Challenge   string      `db:"challenge"`
	ExpiresAt   engine.Time `db:"expires_at"`
}

// codeColumns lists the columns in the order of the parameters of insertCode.
const codeColumns = `org_id, hash, grant_id, client_id, redirect_uri, challenge, expires_at`

var (
	// insertCode changes nothing if the hash exists, so that Insert can report the
	// conflict.
	insertCode = engine.Register("insert authorization code", `
		INSERT INTO authorization_codes (`+codeColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`)
	// Of concurrent callers one finds used_at NULL. PostgreSQL checks again once the
	// row's lock is free, and SQLite has one writer.
	redeemCode = engine.Register("redeem authorization code", `
		UPDATE authorization_codes SET used_at = $1
		WHERE hash = $2 AND used_at IS NULL AND expires_at > $1 AND EXISTS (
			SELECT 1 FROM grants AS g
			WHERE g.org_id = authorization_codes.org_id AND g.id = authorization_codes.grant_id AND g.revoked_at IS NULL)
		RETURNING `+codeColumns)
	// usedCode finds a code that was redeemed before, whether or not it has expired.
	usedCode = engine.Register("used authorization code", `
		SELECT `+codeColumns+` FROM authorization_codes WHERE hash = $1 AND used_at IS NOT NULL`)
	// A grant whose code expired before use was never active.
	purgeUnredeemed = engine.Register("purge unredeemed grants", `
		DELETE FROM grants WHERE (org_id, id) IN (
			SELECT org_id, grant_id FROM authorization_codes WHERE used_at IS NULL AND expires_at <= $1)`)
	// purgeCodes runs after purgeUnredeemed, which finds grants through these rows. It
	// uses authorization_codes_expiry.
	purgeCodes = engine.Register("purge authorization codes", `DELETE FROM authorization_codes WHERE expires_at <= $1`)
)

func (s grantStore) InsertCode(ctx context.Context, c access.AuthorizationCode) error {
	taken := core.Conflict("This authorization code exists already.", "Mint another code.")
	return s.db.Insert(ctx, taken, insertCode, c.OrgID, c.Hash, c.GrantID, c.ClientID, c.RedirectURI, c.Challenge, engine.At(c.ExpiresAt))
}

// RedeemCode redeems a code once and returns it with the outcome. Replayed comes with the
// code, for the audit log. An expired used code is Replayed until PurgeGrants deletes it.
// A code whose grant was revoked before the first use is Unknown. Inside a transaction
// the revocation takes effect only with its commit, so a caller must not return an error
// after a replay.
func (s grantStore) RedeemCode(ctx context.Context, hash []byte, at time.Time) (access.AuthorizationCode, access.Redemption, error) {
	var code access.AuthorizationCode
	outcome := access.Unknown
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		code, outcome = access.AuthorizationCode{}, access.Unknown // reset after an earlier attempt
		redeemed, err := engine.List[codeRow](ctx, s.db, redeemCode, engine.At(at), hash)
		if err != nil {
			return err
		}
		if len(redeemed) == 1 {
			code, outcome = redeemed[0].code(), access.Redeemed
			return nil
		}
		used, err := engine.List[codeRow](ctx, s.db, usedCode, hash)
		if err != nil || len(used) == 0 {
			return err
		}
		code, outcome = used[0].code(), access.Replayed
		return s.RevokeGrant(ctx, code.OrgID, code.GrantID, at)
	})
	if err != nil {
		return access.AuthorizationCode{}, access.Unknown, err
	}
	return code, outcome, nil
}

// code converts the row. The time of use is left out, because the outcome tells it.
func (r codeRow) code() access.AuthorizationCode {
	return access.AuthorizationCode{
		Hash: r.Hash, GrantID: r.GrantID, OrgID: r.OrgID, ClientID: r.ClientID,
		RedirectURI: r.RedirectURI, Challenge: r.Challenge, ExpiresAt: r.ExpiresAt.Time(),
	}
}
