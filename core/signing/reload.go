package signing

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// ReloadEvery is how often a process should look for keys that
// another has made or retired.
const ReloadEvery = 30 * time.Second

const (
	// askEvery is the least time between two searches for an unknown key.
	askEvery   = time.Second
	askTimeout = 2 * time.Second
)

// Reload reads the keys anew. When it fails, what was known before stays in use.
func (k *Keys) Reload(ctx context.Context) error {
	stored, err := k.store.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("read signing keys: %w", err)
	}
	ring, err := openKeyRing(stored, k.master)
	if err != nil {
		return err
	}
	if k.ring.Swap(ring).lost(ring, k.clock()) {
		k.revoking.Lock()
		defer k.revoking.Unlock()
		for _, do := range k.revoked {
			do()
		}
	}
	return nil
}

// WhenRevoked has something done whenever a reload finds that a key is gone whose
// tokens were good: what is remembered of them has to be forgotten. What was given
// first is done first: whoever remembers signatures, then who remembers principals.
func (k *Keys) WhenRevoked(do func()) {
	k.revoking.Lock()
	defer k.revoking.Unlock()
	k.revoked = append(k.revoked, do)
}

// lost reports whether a key that serves is in these keys and not in the next.
func (r *keyRing) lost(next *keyRing, now time.Time) bool {
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

// askFor looks for a key that this process has not heard of. Whoever comes while
// the store is being asked waits for the answer; whoever comes within a second
// after that is told what is known.
func (k *Keys) askFor(ctx context.Context, id string) (openKey, bool) {
	k.asking.Lock()
	defer k.asking.Unlock()
	if key, ok := k.ring.Load().byID[id]; ok {
		return key, true
	}
	if k.clock().Sub(k.asked) >= askEvery {
		// The second counts from the answer: those who waited for a slow one would
		// each ask again.
		defer func() { k.asked = k.clock() }()
		// Others wait for the same answer, so it does not end with this caller.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		if err := k.Reload(ctx); err != nil {
			return openKey{}, false
		}
	}
	key, ok := k.ring.Load().byID[id]
	return key, ok
}
