package privacy

import (
	"context"
	"encoding/hex"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	putTombstone = engine.Register("put erased address", `
		INSERT INTO erased_addresses (org_id, hash, refuses, erased_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, hash) DO UPDATE SET erased_at = excluded.erased_at,
			refuses = CASE WHEN excluded.refuses = '' THEN erased_addresses.refuses ELSE excluded.refuses END`)
	tombstonesOf = engine.Register("erased addresses by hash", `
		SELECT e.hash, e.refuses, e.erased_at FROM `+engine.ParameterRows(`$1`)+`
		CROSS JOIN erased_addresses AS e WHERE e.org_id = $2 AND e.hash = unhex(v ->> 'hash')`)
	tombstones = engine.Register("erased addresses", `
		SELECT hash, refuses, erased_at FROM erased_addresses WHERE org_id = $1 ORDER BY erased_at, hash`)
	anyTombstone = engine.RegisterPoint("any erased address", `SELECT 1 AS n FROM erased_addresses WHERE org_id = $1 LIMIT 1`)
	pseudonymIn  = engine.RegisterPoint("pseudonym of a message", `
		SELECT recipient FROM messages WHERE org_id = $1 AND id = $2 AND recipient LIKE '%@erased.invalid'`)
	formerKeys      = engine.Register("former keys of erased addresses", `SELECT key_id, sealed FROM erased_address_keys WHERE org_id = $1 ORDER BY key_id`)
	deleteTombstone = engine.Register("delete erased address", `DELETE FROM erased_addresses WHERE org_id = $1 AND hash = $2`)
)

type tombstoneRow struct {
	Hash     []byte          `db:"hash"`
	Refuses  privacy.Refusal `db:"refuses"`
	ErasedAt engine.Time     `db:"erased_at"`
}

func (r tombstoneRow) tombstone() privacy.Tombstone {
	return privacy.Tombstone{Hash: r.Hash, Refuses: r.Refuses, ErasedAt: r.ErasedAt.Time()}
}

// AnyTombstone implements [privacy.TombstoneStore].
func (s Store) AnyTombstone(ctx context.Context, orgID string) (bool, error) {
	_, err := s.number(ctx, anyTombstone, orgID)
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// PseudonymIn implements [privacy.TombstoneStore].
func (s Store) PseudonymIn(ctx context.Context, orgID, messageID string) (string, error) {
	type recipientRow struct {
		Recipient string `db:"recipient"`
	}
	row, err := engine.One[recipientRow](ctx, s.db, "recipient", pseudonymIn, orgID, messageID)
	if core.IsNotFound(err) {
		return "", nil
	}
	return row.Recipient, err
}

// PutTombstone implements [privacy.TombstoneStore].
func (s Store) PutTombstone(ctx context.Context, orgID string, t privacy.Tombstone) error {
	_, err := s.db.Exec(ctx, putTombstone, orgID, t.Hash, string(t.Refuses), engine.At(t.ErasedAt))
	return err
}

// TombstonesOf implements [privacy.TombstoneStore].
func (s Store) TombstonesOf(ctx context.Context, orgID string, hashes [][]byte) ([]privacy.Tombstone, error) {
	type hashed struct {
		Hash string `json:"hash"`
	}
	named := make([]hashed, len(hashes))
	for i, hash := range hashes {
		named[i].Hash = hex.EncodeToString(hash)
	}
	parameter, err := engine.JSONParameter(named)
	if err != nil {
		return nil, err
	}
	return engine.ListAs(ctx, s.db, tombstoneRow.tombstone, tombstonesOf, parameter, orgID)
}

// Tombstones implements [privacy.TombstoneStore].
func (s Store) Tombstones(ctx context.Context, orgID string) ([]privacy.Tombstone, error) {
	return engine.ListAs(ctx, s.db, tombstoneRow.tombstone, tombstones, orgID)
}

type formerKeyRow struct {
	ID     string `db:"key_id"`
	Sealed []byte `db:"sealed"`
}

// FormerKeys implements [privacy.TombstoneStore].
func (s Store) FormerKeys(ctx context.Context, orgID string) ([]privacy.FormerKey, error) {
	return engine.ListAs(ctx, s.db, func(r formerKeyRow) privacy.FormerKey { return privacy.FormerKey(r) }, formerKeys, orgID)
}

// DeleteTombstone implements [privacy.TombstoneStore].
func (s Store) DeleteTombstone(ctx context.Context, orgID string, hash []byte) error {
	return s.db.Change(ctx, "erased address", deleteTombstone, orgID, hash)
}
