package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store remembers rules and entries, and finds the events that speak against
// addresses. Finders of one thing fail with core.CodeNotFound; everything takes
// part in the transaction of its context and sees only the organization it is
// given.
type Store interface {
	// Rules are the organization's, or the standard ones.
	Rules(ctx context.Context, orgID string) (Rules, error)
	// HoldRules is Rules, and no other transaction judges or sets rules in the organization
	// until the transaction ends.
	HoldRules(ctx context.Context, orgID string) (Rules, error)
	// SetRules also notes that everything is to be judged anew.
	SetRules(ctx context.Context, orgID string, r Rules, at time.Time) error
	// JudgedTo is the key after which judging anew has to go on, nil when it is done.
	JudgedTo(ctx context.Context, orgID string) (*string, error)
	SetJudgedTo(ctx context.Context, orgID string, key *string) error

	// Adverse are the bounces, complaints and rejects of real messages to the
	// addresses, by key, oldest first; of each address the newest limit, and others
	// of the same instant as the oldest of those.
	Adverse(ctx context.Context, orgID string, keys []string, limit int) (map[string][]Adverse, error)
	// AdverseKeys are the keys of addresses with such events, in order, after the
	// given one, at most limit.
	AdverseKeys(ctx context.Context, orgID, after string, limit int) ([]string, error)

	// Entries are those of the keys that there are, by key.
	Entries(ctx context.Context, orgID string, keys []string) (map[string]Entry, error)
	// LastChange is the greatest LastChangedAt of all entries, zero without any.
	LastChange(ctx context.Context, orgID string) (time.Time, error)
	EntryByID(ctx context.Context, orgID, id string) (Entry, error)
	SaveEntries(ctx context.Context, orgID string, entries []Entry) error
	// EntryPage is at most f.Limit entries, the latest change first.
	EntryPage(ctx context.Context, orgID string, f EntryFilter) ([]Entry, error)
	CountEntries(ctx context.Context, orgID string, f EntryFilter) (int, error)
}

// EntryFilter narrows entries. All members that are set must match.
type EntryFilter struct {
	Status Status
	// ChangedSince is the first instant of LastChangedAt that belongs.
	ChangedSince time.Time
	// Part is part of the address; case does not matter.
	Part string
	// After is the place where the page starts, by LastChangedAt and ID.
	After *core.After
	Limit int
}
