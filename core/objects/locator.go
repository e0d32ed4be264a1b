package objects

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
)

const (
	// locatorLife is how long the store of an organization is cached. After a change of the
	// settings, another process stores mail in the place before for up to that time.
	locatorLife    = 5 * time.Second
	locatorEntries = 10_000
)

// LocatorConfig configures a [Locator]. All fields are required.
type LocatorConfig struct {
	Buckets BucketStore
	Opener  Opener
	// Files returns the store of an organization in the data folder.
	Files func(orgID string) Store
	Clock core.Clock
}

// Locator finds the stores of organizations by their settings; it implements [Stores]. It is
// safe for concurrent use.
type Locator struct {
	cfg   LocatorConfig
	found *cache.Cache[place, located]
}

// place is what a store is found by. The id "" is the place of new objects.
type place struct{ orgID, storeID string }

type located struct {
	orgID string
	store Store
}

var _ Stores = (*Locator)(nil)

// NewLocator returns a Locator.
func NewLocator(cfg LocatorConfig) *Locator {
	return &Locator{cfg: cfg, found: cache.New[place, located](locatorEntries)}
}

// Of returns the store for new objects. See [Stores].
func (l *Locator) Of(ctx context.Context, orgID string) (Store, error) {
	return l.find(place{orgID, ""}, func() (StoredBucket, error) { return l.cfg.Buckets.BucketInUse(ctx, orgID) })
}

// At returns the store with an id. See [Stores].
func (l *Locator) At(ctx context.Context, orgID, storeID string) (Store, error) {
	if storeID == FilesID || storeID == "" {
		return l.cfg.Files(orgID), nil
	}
	return l.find(place{orgID, storeID}, func() (StoredBucket, error) { return l.cfg.Buckets.Bucket(ctx, orgID, storeID) })
}

// All returns all places in which mail of an organization may be: the data folder and all
// buckets, also those that are not in use any more.
func (l *Locator) All(ctx context.Context, orgID string) ([]Store, error) {
	buckets, err := l.cfg.Buckets.AllBuckets(ctx, orgID)
	if err != nil {
		return nil, err
	}
	all := []Store{l.cfg.Files(orgID)}
	for _, b := range buckets {
		all = append(all, Within(orgID, l.cfg.Opener.Open(b.ID, b.Bucket)))
	}
	return all, nil
}

// find returns the store of a place from the cache, or reads its bucket.
func (l *Locator) find(p place, read func() (StoredBucket, error)) (Store, error) {
	now := l.cfg.Clock()
	if known, ok := l.found.Get(p, now); ok {
		return known.store, nil
	}
	epoch := l.found.Epoch()
	b, err := read()
	var store Store
	switch {
	case core.IsNotFound(err) && p.storeID == "":
		store = l.cfg.Files(p.orgID)
	case err != nil:
		return nil, err
	default:
		store = Within(p.orgID, l.cfg.Opener.Open(b.ID, b.Bucket))
	}
	l.found.Put(p, located{p.orgID, store}, now.Add(locatorLife), epoch)
	return store, nil
}

// Forget makes the Locator read the settings of an organization again.
func (l *Locator) Forget(orgID string) {
	l.found.Remove(func(one located) bool { return one.orgID == orgID })
}

// ForgetAll makes the Locator read the settings of all organizations again.
func (l *Locator) ForgetAll() { l.found.Remove(func(located) bool { return true }) }
