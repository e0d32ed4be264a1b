package signing

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// ReloadEvery is the interval at which a process should read the signing keys from the
// store, because another process may have added or retired one.
const ReloadEvery = 30 * time.Second

const (
	// askEvery is the shortest time between two reads of the store for an unknown key id.
	askEvery   = time.Second
	askTimeout = 2 * time.Second
)

// Reload reads the keys from the store. If it fails, the previous keys stay in use.
func (k *Keys) Reload(ctx context.Context) error {
	stored, err := k.store.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("read signing keys: %w", err)
	}
	ring, err := openKeyRing(stored, k.master)
	if err != nil {
		return err
	}
	if k.ring.Swap(ring).isMissingIn(ring, k.clock()) {
		k.revoking.Lock()
		defer k.revoking.Unlock()
		for _, do := range k.revoked {
			do()
		}
	}
	return nil
}

// OnRevoke registers a function that runs when Reload finds that a key is no longer stored
// although its tokens were still accepted. Functions run in the order of registration.
// Register the cache of verified signatures before the cache of principals. In the other
// order, a request in between could use a cached signature to cache its principal again.
func (k *Keys) OnRevoke(do func()) {
	k.revoking.Lock()
	defer k.revoking.Unlock()
	k.revoked = append(k.revoked, do)
}

// isMissingIn reports whether the key ring next lacks a key of the key ring r although
// tokens of that key are still accepted.
func (r *keyRing) isMissingIn(next *keyRing, now time.Time) bool {
	if r == nil {
		return false
	}
	for id, key := range r.byID {
		if _, stays := next.byID[id]; !stays && key.serves(now) {
			return true
		}
	}
	return false
}

// Follow calls Reload at every tick until ctx ends, and logs failures.
func (k *Keys) Follow(ctx context.Context, ticks <-chan time.Time, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if err := k.Reload(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "signing keys not reloaded", "cause", err)
		}
	}
}

// askFor reads the store for an unknown key id and returns the key. Concurrent callers wait
// for the same read. Calls within a second after the read use its result.
func (k *Keys) askFor(ctx context.Context, id string) (openKey, bool) {
	k.asking.Lock()
	defer k.asking.Unlock()
	if key, ok := k.ring.Load().byID[id]; ok {
		return key, true
	}
	if k.clock().Sub(k.asked) >= askEvery {
		// The time askEvery counts from the end of the read. Otherwise each caller that
		// waited for a slow read would read the store again.
		defer func() { k.asked = k.clock() }()
		// Other callers wait for this read, so it must not end with this caller's context.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		if err := k.Reload(ctx); err != nil {
			return openKey{}, false
		}
	}
	key, ok := k.ring.Load().byID[id]
	return key, ok
}
