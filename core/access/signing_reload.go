package access

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// ReloadSigningKeysEvery is how often a process should look for keys that
// another has made or retired.
const ReloadSigningKeysEvery = 30 * time.Second

const (
	// askEvery is the least time between two searches for an unknown key.
	askEvery   = time.Second
	askTimeout = 2 * time.Second
)

// Reload reads the keys anew. When it fails, what was known before stays in use.
func (k *SigningKeys) Reload(ctx context.Context) error {
	stored, err := k.store.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("read signing keys: %w", err)
	}
	ring, err := openKeyRing(stored, k.master)
	if err != nil {
		return err
	}
	k.ring.Store(ring)
	return nil
}

// Follow reloads the keys at every tick, until ctx ends.
func (k *SigningKeys) Follow(ctx context.Context, ticks <-chan time.Time, log *slog.Logger) {
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
func (k *SigningKeys) askFor(ctx context.Context, id string) (openKey, bool) {
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
