package access

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// SigningNotice is how long a new signing key is published before it signs. In
// that time every process hears of it, and every copy of the key set that may be
// cached (for five minutes) is replaced.
const SigningNotice = 6 * time.Minute

// SigningKeyRotation changes the key that signs access tokens.
type SigningKeyRotation struct {
	Store      SigningStore
	Transactor core.Transactor
	Master     MasterKey
	Clock      core.Clock
}

// Rotate makes a signing key and retires the one in use, with [SigningNotice] or,
// at once, without. It returns the new key. It fails with core.CodeConflict when
// a key that was made before waits for its turn, unless atOnce passes that one
// over, and when somebody else rotates at the same time; and when the master key
// does not open the keys there are: nobody could open one that it has sealed.
func (r SigningKeyRotation) Rotate(ctx context.Context, atOnce bool) (SigningKey, error) {
	return r.succeed(ctx, func(ctx context.Context, stored []SigningKey, next SigningKey) error {
		now := next.CreatedAt
		if atOnce {
			return r.Store.RotateSigningKey(ctx, next, now)
		}
		for _, key := range stored {
			if key.RetiredAt != nil && now.Before(*key.RetiredAt) {
				return core.Conflict("A rotation is under way: the next key signs from "+key.RetiredAt.UTC().Format(time.RFC3339)+".", "Wait until then, or rotate at once.")
			}
		}
		return r.Store.RotateSigningKey(ctx, next, now.Add(SigningNotice))
	})
}

// RevokeOld makes a signing key that signs from now on and forgets all others,
// also one that waits for its turn: nothing that they signed is accepted by a
// process that has read the keys since, which each does within
// [ReloadSigningKeysEvery]. It returns the new key, and fails as Rotate at once.
func (r SigningKeyRotation) RevokeOld(ctx context.Context) (SigningKey, error) {
	return r.succeed(ctx, func(ctx context.Context, _ []SigningKey, next SigningKey) error {
		return r.Store.ReplaceSigningKeys(ctx, next)
	})
}

// succeed makes the next key, which store puts in the place of those there are.
func (r SigningKeyRotation) succeed(ctx context.Context, store func(ctx context.Context, stored []SigningKey, next SigningKey) error) (SigningKey, error) {
	var next SigningKey
	err := r.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := r.Store.HoldSigningKeys(ctx); err != nil {
			return fmt.Errorf("hold signing keys: %w", err)
		}
		stored, err := r.Store.SigningKeys(ctx)
		if err != nil {
			return fmt.Errorf("read signing keys: %w", err)
		}
		for _, key := range stored {
			if _, err := openSigningKey(key, r.Master); err != nil {
				return fmt.Errorf("signing key %s: %w", key.ID, err)
			}
		}
		if next, err = newSigningKey(r.Master, r.Clock()); err != nil {
			return err
		}
		return store(ctx, stored, next)
	})
	if err != nil {
		return SigningKey{}, err
	}
	return next, nil
}

// SigningKeyState is what becomes of a signing key.
type SigningKeyState string

// The states, in the order in which a key passes through them.
const (
	SigningKeyWaiting SigningKeyState = "waiting" // published, does not sign yet
	SigningKeySigning SigningKeyState = "signing"
	SigningKeyRetired SigningKeyState = "retired" // its tokens are still good
	SigningKeyOver    SigningKeyState = "over"    // nothing it signed is accepted
)

// SigningKeyStates says for each of the stored keys, newest first, in which state
// it is at now.
func SigningKeyStates(stored []SigningKey, now time.Time) []SigningKeyState {
	states := make([]SigningKeyState, len(stored))
	signs := -1
	for i, key := range stored {
		switch {
		case key.RetiredAt == nil || now.Before(*key.RetiredAt):
			states[i] = SigningKeyWaiting
			signs = i
		case now.Before(key.RetiredAt.Add(SigningOverlap)):
			states[i] = SigningKeyRetired
		default:
			states[i] = SigningKeyOver
		}
	}
	if signs >= 0 {
		states[signs] = SigningKeySigning
	}
	return states
}
