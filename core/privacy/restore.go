package privacy

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core/access"
)

// Entry is a line of a Journal.
type Entry struct {
	OrgID string
	Tombstone
	// Allowed means that the address was allowed again at the time ErasedAt.
	Allowed bool
}

// Journal keeps tombstones outside of the database. It is safe for concurrent use.
type Journal interface {
	// Append stores an entry durably.
	Append(e Entry) error
}

// Latest returns the latest entry of each address of an organization, by its hash. Addresses that
// were allowed again are left out. The entries may be those of several journals in any order,
// because each server has a journal of its own.
func Latest(entries []Entry, orgID string) map[string]Tombstone {
	latest := map[string]Tombstone{}
	for _, e := range slices.SortedStableFunc(slices.Values(entries), func(a, b Entry) int { return a.ErasedAt.Compare(b.ErasedAt) }) {
		switch {
		case e.OrgID != orgID:
		case e.Allowed:
			delete(latest, string(e.Hash))
		default:
			latest[string(e.Hash)] = e.Tombstone
		}
	}
	return latest
}

// Restored is the result of [Privacy.Restore] for one organization.
type Restored struct {
	// Erased is the number of persons that were erased again, and Newer the number of those that
	// were not, because their contact was created after the erasure.
	Erased, Newer int
}

// Restore erases the persons of the tombstones again, after an older copy of the database was
// restored that still has their data. It searches every address of the organization. A person
// whose contact was created after the erasure came back by themselves and is kept. It may be
// repeated.
func (p *Privacy) Restore(ctx context.Context, actor access.Actor, orgID string, stones map[string]Tombstone) (Restored, error) {
	var done Restored
	if len(stones) == 0 {
		return done, nil
	}
	found := map[string]Tombstone{}
	err := p.Store.Addresses(ctx, orgID, func(email string) error {
		if stone, ok := stones[string(p.Hasher.Hash(orgID, email))]; ok {
			found[email] = stone
		}
		return nil
	})
	if err != nil {
		return done, err
	}
	for _, stone := range stones {
		if err := p.Tombstones.PutTombstone(ctx, orgID, stone); err != nil {
			return done, err
		}
	}
	for email, stone := range found {
		created, err := p.Store.CreatedAt(ctx, orgID, email)
		if err != nil {
			return done, err
		}
		if created.After(stone.ErasedAt) {
			done.Newer++
			continue
		}
		if _, err := p.Erase(ctx, actor, orgID, email); err != nil {
			return done, err
		}
		done.Erased++
	}
	return done, nil
}
