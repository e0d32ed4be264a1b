package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores the entries of addresses, and reads the events that count against
// addresses. A method that finds one entry fails with core.CodeNotFound if there is none.
// Every method takes part in the transaction of ctx and sees only the given organization.
type Store interface {
	// Adverse returns the bounces, complaints and rejects of each address, by address key,
	// oldest first. It ignores test messages. It returns the newest limit events of an
	// address, and further events with the same time as the oldest of these.
	Adverse(ctx context.Context, orgID string, keys []string, limit int) (map[string][]Adverse, error)
	// AdverseKeys returns the keys of addresses that have bounces, complaints or rejects. It
	// returns at most limit keys in ascending order, and only keys that sort after the
	// parameter after.
	AdverseKeys(ctx context.Context, orgID, after string, limit int) ([]string, error)

	// Entries returns the entries with these keys, by key. A key without an entry is missing
	// in the result.
	Entries(ctx context.Context, orgID string, keys []string) (map[string]Entry, error)
	// LastChange returns the greatest LastChangedAt of all entries, or the zero time if
	// there are none.
	LastChange(ctx context.Context, orgID string) (time.Time, error)
	EntryByID(ctx context.Context, orgID, id string) (Entry, error)
	SaveEntries(ctx context.Context, orgID string, entries []Entry) error
	// EntryPage returns at most f.Limit matching entries, the latest change first.
	EntryPage(ctx context.Context, orgID string, f EntryFilter) ([]Entry, error)
	CountEntries(ctx context.Context, orgID string, f EntryFilter) (int, error)
}

// EntryFilter selects entries. An entry must match every field that is set.
type EntryFilter struct {
	Status Status
	// ChangedSince selects entries with a LastChangedAt at or after this time.
	ChangedSince time.Time
	// Part selects the entries whose address contains this text, ignoring case.
	Part string
	// After is the position (LastChangedAt and ID) after which the page begins; nil for the
	// first page.
	After *core.After
	Limit int
}
