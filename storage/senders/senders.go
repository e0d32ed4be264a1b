package senders

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores claims, and counts the starts of their owners.
type Store struct{ db *engine.DB }

var (
	_ senders.Store      = Store{}
	_ senders.StartStore = Store{}
)

// New returns the store of verified senders on the database.
func New(db *engine.DB) Store { return Store{db} }

const claimColumns = `id, owner, email, start_id, code_hash, code_expires_at, wrong_codes, verified_at, created_at`

var (
	// claimsPage selects a page of claims after the cursor, newest first, through the index
	// verified_senders_of_owner.
	claimsPage = engine.Register("verified senders of an owner", `
		SELECT `+claimColumns+` FROM verified_senders
		WHERE org_id = $1 AND owner = $2 AND (created_at, id) < ($3, $4)
		ORDER BY created_at DESC, id DESC LIMIT $5`)
	holdClaim = engine.Register("hold verified sender", `
		SELECT `+claimColumns+` FROM verified_senders WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	holdClaimOf = engine.Register("hold verified sender by address", `
		SELECT `+claimColumns+` FROM verified_senders WHERE org_id = $1 AND address = $2 /*pg FOR UPDATE*/`)
	insertClaim = engine.Register("insert verified sender", `
		INSERT INTO verified_senders (org_id, id, owner, email, address, start_id, code_hash, code_expires_at, wrong_codes, verified_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`)
	updateClaim = engine.Register("update verified sender", `
		UPDATE verified_senders SET email = $1, address = $2, start_id = $3, code_hash = $4, code_expires_at = $5, wrong_codes = $6, verified_at = $7
		WHERE org_id = $8 AND id = $9`)
	deleteClaim  = engine.Register("delete verified sender", `DELETE FROM verified_senders WHERE org_id = $1 AND id = $2`)
	forgetClaims = engine.Register("forget verified senders", `
		DELETE FROM verified_senders WHERE org_id = $1 AND id IN (
			SELECT id FROM verified_senders WHERE org_id = $1 AND verified_at IS NULL AND code_expires_at < $2 LIMIT $3)`)
	hasVerified = engine.RegisterPoint("has verified sender", `
		SELECT id FROM verified_senders WHERE org_id = $1 AND address = $2 AND owner = $3 AND verified_at IS NOT NULL`)
	// isActive returns a row if the owner is a member, or has a key that works.
	isActive = engine.Register("owner of verified sender is active", `
		SELECT user_id FROM members WHERE org_id = $1 AND user_id = $2
		UNION ALL
		SELECT id FROM api_keys WHERE org_id = $1 AND (id = $2 OR owner = $2) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)`)
)

// claimRow is a row of the table verified_senders.
type claimRow struct {
	ID            string       `db:"id"`
	Owner         string       `db:"owner"`
	Email         string       `db:"email"`
	StartID       string       `db:"start_id"`
	CodeHash      []byte       `db:"code_hash"`
	CodeExpiresAt engine.Time  `db:"code_expires_at"`
	WrongCodes    int          `db:"wrong_codes"`
	VerifiedAt    *engine.Time `db:"verified_at"`
	CreatedAt     engine.Time  `db:"created_at"`
}

func (r claimRow) claim() senders.Claim {
	return senders.Claim{
		ID: r.ID, Owner: r.Owner, Email: r.Email, StartID: r.StartID, CodeHash: r.CodeHash, CodeExpiresAt: r.CodeExpiresAt.Time(),
		WrongCodes: r.WrongCodes, VerifiedAt: engine.OptionalTime(r.VerifiedAt), CreatedAt: r.CreatedAt.Time(),
	}
}

// resource is the name of a claim in errors.
const resource = "verified sender"

func (s Store) Claims(ctx context.Context, orgID, owner string, after *core.After, limit int) ([]senders.Claim, error) {
	created, id := engine.PageStart(after)
	return engine.ListAs(ctx, s.db, claimRow.claim, claimsPage, orgID, owner, created, id, limit)
}

func (s Store) Claim(ctx context.Context, orgID, id string) (senders.Claim, error) {
	row, err := engine.One[claimRow](ctx, s.db, resource, holdClaim, orgID, id)
	if err != nil {
		return senders.Claim{}, err
	}
	return row.claim(), nil
}

func (s Store) ClaimOf(ctx context.Context, orgID, address string) (senders.Claim, error) {
	row, err := engine.One[claimRow](ctx, s.db, resource, holdClaimOf, orgID, address)
	if err != nil {
		return senders.Claim{}, err
	}
	return row.claim(), nil
}

func (s Store) InsertClaim(ctx context.Context, orgID string, c senders.Claim) (bool, error) {
	inserted, err := s.db.Exec(ctx, insertClaim, orgID, c.ID, c.Owner, c.Email, core.EmailKey(c.Email), c.StartID, c.CodeHash,
		engine.At(c.CodeExpiresAt), c.WrongCodes, engine.OptionalAt(c.VerifiedAt), engine.At(c.CreatedAt))
	return inserted > 0, err
}

func (s Store) UpdateClaim(ctx context.Context, orgID string, c senders.Claim) error {
	return s.db.Change(ctx, resource, updateClaim, c.Email, core.EmailKey(c.Email), c.StartID, c.CodeHash,
		engine.At(c.CodeExpiresAt), c.WrongCodes, engine.OptionalAt(c.VerifiedAt), orgID, c.ID)
}

func (s Store) DeleteClaim(ctx context.Context, orgID, id string) error {
	return s.db.Change(ctx, resource, deleteClaim, orgID, id)
}

func (s Store) ForgetClaims(ctx context.Context, orgID string, before time.Time, limit int) (int, error) {
	return s.db.Exec(ctx, forgetClaims, orgID, engine.At(before), limit)
}

func (s Store) HasVerified(ctx context.Context, orgID, owner, address string) (bool, error) {
	found, err := engine.Values[string](ctx, s.db, hasVerified, orgID, address, owner)
	return len(found) > 0, err
}

func (s Store) IsActive(ctx context.Context, orgID, owner string, now time.Time) (bool, error) {
	found, err := engine.Values[string](ctx, s.db, isActive, orgID, owner, engine.At(now))
	return len(found) > 0, err
}
