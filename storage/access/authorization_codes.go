package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// codeRow is a row of authorization_codes. Only the hash of the code is stored.
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
	// insertCode changes nothing if the hash exists, so that InsertCode can return Conflict.
	insertCode = engine.Register("insert authorization code", `
		INSERT INTO authorization_codes (`+codeColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`)
	// redeemCode marks a code as used. Of concurrent callers only one finds used_at NULL:
	// PostgreSQL tests it again after waiting for the row lock, and SQLite has one writer at
	// a time.
	redeemCode = engine.Register("redeem authorization code", `
		UPDATE authorization_codes SET used_at = $1
		WHERE hash = $2 AND used_at IS NULL AND expires_at > $1 AND EXISTS (
			SELECT 1 FROM grants AS g
			WHERE g.org_id = authorization_codes.org_id AND g.id = authorization_codes.grant_id AND g.revoked_at IS NULL)
		RETURNING `+codeColumns)
	// usedCode selects an authorization code that was redeemed before, even if it has
	// expired.
	usedCode = engine.Register("used authorization code", `
		SELECT `+codeColumns+` FROM authorization_codes WHERE hash = $1 AND used_at IS NOT NULL`)
	// purgeUnredeemed deletes grants whose authorization code expired without being used.
	// Such a grant was never active.
	purgeUnredeemed = engine.Register("purge unredeemed grants", `
		DELETE FROM grants WHERE (org_id, id) IN (
			SELECT org_id, grant_id FROM authorization_codes WHERE used_at IS NULL AND expires_at <= $1)`)
	// purgeCodes deletes expired codes through the index authorization_codes_expiry. It runs
	// after purgeUnredeemed, which needs these rows to find grants.
	purgeCodes = engine.Register("purge authorization codes", `DELETE FROM authorization_codes WHERE expires_at <= $1`)
)

func (s grantStore) InsertCode(ctx context.Context, c access.AuthorizationCode) error {
	taken := core.Conflict("This authorization code exists already.", "Mint another code.")
	return s.db.Insert(ctx, taken, insertCode, c.OrgID, c.Hash, c.GrantID, c.ClientID, c.RedirectURI, c.Challenge, engine.At(c.ExpiresAt))
}

// RedeemCode redeems an authorization code once. The outcome is Redeemed, Replayed for a
// code that was used before, or Unknown.
//
// A replay (a second use) revokes the grant and returns the code, for the audit log. It is
// detected until PurgeGrants deletes the code, even after the code has expired. A code
// whose grant was revoked before the first use is Unknown. A caller in a transaction must
// not return an error after a replay, because this would roll back the revocation.
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

// code converts the row to an access.AuthorizationCode.
func (r codeRow) code() access.AuthorizationCode {
	return access.AuthorizationCode{
		Hash: r.Hash, GrantID: r.GrantID, OrgID: r.OrgID, ClientID: r.ClientID,
		RedirectURI: r.RedirectURI, Challenge: r.Challenge, ExpiresAt: r.ExpiresAt.Time(),
	}
}
