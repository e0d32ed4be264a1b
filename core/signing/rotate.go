package signing

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Notice is how long a new signing key is published before it signs. In this time every
// process reads the key, and every cached copy of the JWK set (five minutes) expires.
const Notice = 6 * time.Minute

// Rotation has the operations that replace the key that signs access tokens.
type Rotation struct {
	Store      Store
	Transactor core.Transactor
	Master     MasterKey
	Clock      core.Clock
}

// Rotate creates a signing key and retires the present one after [Notice], or immediately
// if atOnce is set. It returns the new key.
//
// It fails with core.CodeConflict if another rotation runs concurrently, and, unless atOnce
// is set, if the key of an earlier rotation does not sign yet. It also fails if the master
// key does not decrypt the stored keys, because then no process could decrypt the new key.
func (r Rotation) Rotate(ctx context.Context, atOnce bool) (Key, error) {
	return r.makeNext(ctx, func(ctx context.Context, stored []Key, next Key) error {
		now := next.CreatedAt
		if atOnce {
			return r.Store.RotateSigningKey(ctx, next, now)
		}
		for _, key := range stored {
			if key.RetiredAt != nil && now.Before(*key.RetiredAt) {
				return core.Conflict("A rotation is under way: the next key signs from "+key.RetiredAt.UTC().Format(time.RFC3339)+".", "Wait until then, or rotate at once.")
			}
		}
		return r.Store.RotateSigningKey(ctx, next, now.Add(Notice))
	})
}

// RevokeOld creates a signing key that signs immediately, deletes all others, and returns
// the new key. Each process rejects tokens of the deleted keys after it has read the keys
// again, within [ReloadEvery]. RevokeOld fails in the same cases as Rotate with atOnce.
func (r Rotation) RevokeOld(ctx context.Context) (Key, error) {
	return r.makeNext(ctx, func(ctx context.Context, _ []Key, next Key) error {
		return r.Store.ReplaceSigningKeys(ctx, next)
	})
}

// makeNext creates a key and calls the function store with the stored keys and the new key,
// in a transaction that locks the signing keys.
func (r Rotation) makeNext(ctx context.Context, store func(ctx context.Context, stored []Key, next Key) error) (Key, error) {
	var next Key
	err := r.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := r.Store.HoldSigningKeys(ctx); err != nil {
			return fmt.Errorf("hold signing keys: %w", err)
		}
		stored, err := r.Store.SigningKeys(ctx)
		if err != nil {
			return fmt.Errorf("read signing keys: %w", err)
		}
		if _, err := openKeys(stored, r.Master); err != nil {
			return err
		}
		if next, err = newSigningKey(r.Master, r.Clock()); err != nil {
			return err
		}
		return store(ctx, stored, next)
	})
	if err != nil {
		return Key{}, err
	}
	return next, nil
}

// State says whether a signing key signs tokens, and whether its tokens are accepted.
type State string

// The states of a signing key, in the order in which a key has them.
const (
	Waiting State = "waiting" // the key is published and does not sign yet
	Signing State = "signing"
	Retired State = "retired" // the key no longer signs; its unexpired tokens are accepted
	Over    State = "over"    // access tokens signed with the key are no longer accepted
)

// States returns the state at now of each stored key. The keys must be sorted newest first.
func States(stored []Key, now time.Time) []State {
	states := make([]State, len(stored))
	signs := -1
	for i, key := range stored {
		switch {
		case key.RetiredAt == nil || now.Before(*key.RetiredAt):
			states[i] = Waiting
			signs = i
		case now.Before(key.RetiredAt.Add(Overlap)):
			states[i] = Retired
		default:
			states[i] = Over
		}
	}
	if signs >= 0 {
		states[signs] = Signing
	}
	return states
}
