package site

import (
	"context"
	"time"
)

// Store stores site keys and counts of beacons. Methods with an organization see only its
// data, and take part in the transaction of ctx.
type Store interface {
	// SiteKeys returns the keys of the organization that are valid at the time now: the key in
	// use first, then earlier keys, the newest first.
	SiteKeys(ctx context.Context, orgID string, now time.Time) ([]Key, error)
	// InsertSiteKey stores a key in use. It fails with core.CodeConflict if the organization
	// has one.
	InsertSiteKey(ctx context.Context, orgID string, k Key) error
	// ExpireSiteKey sets the end of the key in use. It fails with core.CodeNotFound if the
	// organization has no such key in use.
	ExpireSiteKey(ctx context.Context, orgID, key string, at time.Time) error
	// DeleteExpiredSiteKeys deletes the keys that are no longer valid at the time now.
	DeleteExpiredSiteKeys(ctx context.Context, orgID string, now time.Time) error
	// SiteOff reports whether the organization has turned beacons off.
	SiteOff(ctx context.Context, orgID string) (bool, error)
	// TurnSiteOff and TurnSiteOn change that. They may be repeated.
	TurnSiteOff(ctx context.Context, orgID string, at time.Time) error
	TurnSiteOn(ctx context.Context, orgID string) error
	// SiteCounts returns the sums of the counts since a day, by outcome and name.
	SiteCounts(ctx context.Context, orgID string, since time.Time) ([]Count, error)

	// AllSiteKeys returns the keys of all organizations that are valid at the time now.
	AllSiteKeys(ctx context.Context, now time.Time) ([]OwnedKey, error)
	// AddSiteCounts adds counts of any organizations to those of their days.
	AddSiteCounts(ctx context.Context, counts []DayCount) error
	// PurgeSiteCounts deletes the counts of days before a day, of all organizations.
	PurgeSiteCounts(ctx context.Context, before time.Time) error
}

// OwnedKey is a site key with its organization.
type OwnedKey struct {
	OrgID string
	Hash  Hash
	// Off is true if the organization has turned beacons off.
	Off bool
	// ExpiresAt is the zero time for the key in use.
	ExpiresAt time.Time
}

// Count counts beacons with one outcome. Name is a refused name for BadName, "" otherwise and
// for names beyond the limit of a day.
type Count struct {
	Outcome Outcome
	Name    string
	Beacons int64
	LastAt  time.Time
}

// DayCount is a count of one organization on one day.
type DayCount struct {
	OrgID string
	// Day is the start of a UTC day.
	Day time.Time
	Count
}
