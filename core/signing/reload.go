package signing

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// ReloadEvery is the interval at which a process should read the keys, because another
// process may have made or retired one.
const ReloadEvery = 30 * time.Second

const (
	// askEvery is the shortest time between two searches for an unknown key id.
	askEvery   = time.Second
	askTimeout = 2 * time.Second
)

// Reload reads the keys from the store. After a failure the previous snapshot stays in use.
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

// OnRevoke registers a function that runs when a reload finds that a key with accepted
// tokens was deleted. Functions run in the order of registration. Register the cache of
// signatures before the cache of principals.
func (k *Keys) OnRevoke(do func()) {
	k.revoking.Lock()
	defer k.revoking.Unlock()
	k.revoked = append(k.revoked, do)
}

// isMissingIn reports whether next lacks a key of this ring whose tokens are still accepted.
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

// Follow reloads the keys at every tick, until ctx ends.
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

// askFor searches the store for an unknown key id. Concurrent callers wait for the same
// search. Callers within a second after it get its result.
func (k *Keys) askFor(ctx context.Context, id string) (openKey, bool) {
	k.asking.Lock()
	defer k.asking.Unlock()
	if key, ok := k.ring.Load().byID[id]; ok {
		return key, true
	}
	if k.clock().Sub(k.asked) >= askEvery {
		// The second counts from the answer. Otherwise each caller that waited for a slow
		// answer would search again.
		defer func() { k.asked = k.clock() }()
		// Other callers wait for the same answer, so it does not end with this caller.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		if err := k.Reload(ctx); err != nil {
			return openKey{}, false
		}
	}
	key, ok := k.ring.Load().byID[id]
	return key, ok
}
