package site

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ReloadEvery is the time between two reads of the site keys. A change of another process
// applies within this time.
const ReloadEvery = 5 * time.Second

// Keys has the site keys of all organizations in memory. It is safe for use by several
// goroutines.
type Keys struct {
	store Store
	clock core.Clock
	all   atomic.Pointer[map[Hash]OwnedKey]
}

// NewKeys returns a Keys without keys. Reload reads them.
func NewKeys(store Store, clock core.Clock) *Keys {
	k := &Keys{store: store, clock: clock}
	k.all.Store(&map[Hash]OwnedKey{})
	return k
}

// Reload reads the keys of the database. If that fails, Keys has the keys of the last read.
func (k *Keys) Reload(ctx context.Context) error {
	stored, err := k.store.AllSiteKeys(ctx, k.clock())
	if err != nil {
		return err
	}
	all := make(map[Hash]OwnedKey, len(stored))
	for _, key := range stored {
		all[key.Hash] = key
	}
	k.all.Store(&all)
	return nil
}

// Follow reads the keys at each tick until ctx ends, and logs errors.
func (k *Keys) Follow(ctx context.Context, ticks <-chan time.Time, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if err := k.Reload(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "site keys not reloaded", "cause", err)
			}
		}
	}
}

// find returns the key with a value, and whether it is valid at the time now. It takes the
// same steps for every value: the map sees only hashes, and the comparison does not depend on
// them.
func (k *Keys) find(value string, now time.Time) (OwnedKey, bool) {
	hash := HashOf(value)
	key := (*k.all.Load())[hash]
	same := subtle.ConstantTimeCompare(key.Hash[:], hash[:]) == 1
	return key, same && (key.ExpiresAt.IsZero() || now.Before(key.ExpiresAt))
}
