package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores rules and entries, and finds the events that count against addresses.
// Methods that find one thing fail with core.CodeNotFound. Every method takes part in
// the transaction of its context and sees only the given organization.
type Store interface {
	// Rules returns the organization's rules, or the standard ones.
	Rules(ctx context.Context, orgID string) (Rules, error)
	// HoldRules returns the rules and locks them until the transaction ends. Other
	// transactions cannot judge or set rules in the organization until then.
	HoldRules(ctx context.Context, orgID string) (Rules, error)
	// SetRules stores the rules and marks all addresses to be judged again.
	SetRules(ctx context.Context, orgID string, r Rules, at time.Time) error
	// JudgedTo returns how far the job has come that applies changed rules to all addresses
	// in the order of their keys: the last key done, or nil when it has finished.
	JudgedTo(ctx context.Context, orgID string) (*string, error)
	SetJudgedTo(ctx context.Context, orgID string, key *string) error

	// Adverse returns the bounces, complaints and rejects of real messages to the
	// addresses, by key, oldest first. It returns the newest limit events of each
	// address, and all others with the same time as the oldest of those.
	Adverse(ctx context.Context, orgID string, keys []string, limit int) (map[string][]Adverse, error)
	// AdverseKeys returns at most limit keys of addresses with such events, sorted,
	// after the given key.
	AdverseKeys(ctx context.Context, orgID, after string, limit int) ([]string, error)

	// Entries returns the existing entries with the keys, by key.
	Entries(ctx context.Context, orgID string, keys []string) (map[string]Entry, error)
	// LastChange returns the greatest LastChangedAt of all entries, zero without any.
	LastChange(ctx context.Context, orgID string) (time.Time, error)
	EntryByID(ctx context.Context, orgID, id string) (Entry, error)
	SaveEntries(ctx context.Context, orgID string, entries []Entry) error
	// EntryPage returns at most f.Limit entries, the latest change first.
	EntryPage(ctx context.Context, orgID string, f EntryFilter) ([]Entry, error)
	CountEntries(ctx context.Context, orgID string, f EntryFilter) (int, error)
}

// EntryFilter selects entries. All fields that are set must match.
type EntryFilter struct {
	Status Status
	// ChangedSince is the earliest LastChangedAt to include.
	ChangedSince time.Time
	// Part is a part of the address, in any case.
	Part string
	// After is the position where the page starts, by LastChangedAt and ID.
	After *core.After
	Limit int
}
