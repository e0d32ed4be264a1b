package receiving

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	addressesOfDomain = engine.Register("addresses of receiving domain", `
		SELECT id, local_part, metadata, listed, created_at FROM receiving_addresses
		WHERE org_id = $1 AND domain_id = $2 AND deleted_at IS NULL ORDER BY created_at, id`)
	countAddresses = engine.Register("count addresses of receiving domain", `
		SELECT count(*) FROM receiving_addresses WHERE org_id = $1 AND domain_id = $2 AND deleted_at IS NULL`)
	insertAddress = engine.Register("insert address of receiving domain", `
		INSERT INTO receiving_addresses (org_id, id, domain_id, local_part, metadata, listed, published, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, FALSE, $7) ON CONFLICT DO NOTHING`)
	deleteAddress = engine.Register("delete address of receiving domain", `
		UPDATE receiving_addresses SET deleted_at = $1
		WHERE org_id = $2 AND domain_id = $3 AND local_part = $4 AND deleted_at IS NULL RETURNING listed`)
)

// addressRow is a row of receiving_addresses.
type addressRow struct {
	ID        string      `db:"id"`
	LocalPart string      `db:"local_part"`
	Metadata  string      `db:"metadata"`
	Listed    bool        `db:"listed"`
	CreatedAt engine.Time `db:"created_at"`
}

func (r addressRow) address() (receiving.Address, error) {
	a := receiving.Address{ID: r.ID, LocalPart: r.LocalPart, Listed: r.Listed, CreatedAt: r.CreatedAt.Time()}
	if err := json.Unmarshal([]byte(r.Metadata), &a.Metadata); err != nil {
		return a, fmt.Errorf("storage: metadata of address: %w", err)
	}
	return a, nil
}

func (s Store) Addresses(ctx context.Context, orgID, domainID string) ([]receiving.Address, error) {
	return engine.ListParsed(ctx, s.db, addressRow.address, addressesOfDomain, orgID, domainID)
}

func (s Store) CountAddresses(ctx context.Context, orgID, domainID string) (int, error) {
	found, err := engine.Values[int](ctx, s.db, countAddresses, orgID, domainID)
	if err != nil {
		return 0, err
	}
	return found[0], nil
}

func (s Store) InsertAddress(ctx context.Context, orgID, domainID string, a receiving.Address) error {
	metadata, err := json.Marshal(a.Metadata)
	if err != nil {
		return fmt.Errorf("storage: metadata of address: %w", err)
	}
	taken := core.Conflict("The domain has a live address with the local part "+core.Quote(a.LocalPart)+".", "Choose another local part, or delete the address first.")
	return s.db.Insert(ctx, taken, insertAddress, orgID, a.ID, domainID, a.LocalPart, string(metadata), a.Listed, engine.At(a.CreatedAt))
}

func (s Store) DeleteAddress(ctx context.Context, orgID, domainID, localPart string, now time.Time) (bool, error) {
	listed, err := engine.Values[bool](ctx, s.db, deleteAddress, engine.At(now), orgID, domainID, localPart)
	return len(listed) > 0 && listed[0], err
}
