package guardrails_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

// TestReplaysFollowTheModel compares the real results of random schedules with those of the
// model. Schedules contain repeated calls, callers who disconnect, processes that end,
// retries and jumps of the clock.
func TestReplaysFollowTheModel(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	rapid.Check(t, func(rt *rapid.T) {
		if err := play(newRig(t, db, nil), schedules.Draw(rt, "schedule")); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestReplaysFollowTheModelOnPostgreSQL runs a few random schedules of calls on PostgreSQL.
// PostgreSQL differs from SQLite only in how it locks rows, which
// TestHistoriesAreLinearizable covers.
func TestReplaysFollowTheModelOnPostgreSQL(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	for seed := range 25 {
		if err := play(newRig(t, db, nil), schedules.Example(seed)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// The types below are stores and transactors with faults that the tests must detect.

// forgetful is a faulty store that does not keep the results of calls.
type forgetful struct{ replay.Store }

// Complete does nothing.
func (forgetful) Complete(context.Context, replay.Key, replay.Token, replay.Outcome) error {
	return nil
}

// generous is a faulty store that lets every caller reserve a key that is reserved already.
type generous struct{ replay.Store }

// Reserve always returns won.
func (g generous) Reserve(ctx context.Context, k replay.Key, claim replay.Claim, now time.Time) (replay.Record, bool, error) {
	found, won, err := g.Store.Reserve(ctx, k, claim, now)
	return found, won || !found.Done, err
}

// eternal is a faulty store whose leases do not expire.
type eternal struct{ replay.Store }

// Reserve passes a time one year before now to the store, so that no lease counts as
// expired.
func (e eternal) Reserve(ctx context.Context, k replay.Key, claim replay.Claim, now time.Time) (replay.Record, bool, error) {
	return e.Store.Reserve(ctx, k, claim, now.AddDate(-1, 0, 0))
}

// careless is a faulty store whose method Complete accepts any lease token. So a call can
// complete after its lease has expired and another call has taken over its idempotency key.
// Both calls then take effect.
type careless struct{ replay.Store }

// Complete succeeds with any token.
func (c careless) Complete(ctx context.Context, k replay.Key, token replay.Token, outcome replay.Outcome) error {
	_ = c.Store.Complete(ctx, k, token, outcome)
	return nil
}

// stingy is a faulty store. It keeps a result under an idempotency key of the client for
// five minutes instead of 24 hours.
type stingy struct{ replay.Store }

// Complete stores the outcome with an expiry that is too early.
func (s stingy) Complete(ctx context.Context, k replay.Key, token replay.Token, outcome replay.Outcome) error {
	if !strings.HasPrefix(k.Space, "derived:") {
		outcome.Expires = outcome.Expires.Add(5*time.Minute - 24*time.Hour)
	}
	return s.Store.Complete(ctx, k, token, outcome)
}

// clinging is a faulty store whose idempotency keys stay reserved, because Release has no
// effect.
type clinging struct{ replay.Store }

// Release does nothing.
func (clinging) Release(context.Context, replay.Key, replay.Token) error { return nil }

// loose is a faulty transactor that runs everything without a transaction.
type loose struct{}

// InTx calls f without a transaction, so that nothing is rolled back after an error.
func (loose) InTx(ctx context.Context, f func(context.Context) error) error { return f(ctx) }

func storeOf(wrap func(replay.Store) replay.Store) breakage {
	return func(x core.Transactor, s replay.Store) (core.Transactor, replay.Store) { return x, wrap(s) }
}

var breakages = map[string]breakage{
	"forgetful": storeOf(func(s replay.Store) replay.Store { return forgetful{s} }),
	"generous":  storeOf(func(s replay.Store) replay.Store { return generous{s} }),
	"eternal":   storeOf(func(s replay.Store) replay.Store { return eternal{s} }),
	"careless":  storeOf(func(s replay.Store) replay.Store { return careless{s} }),
	"stingy":    storeOf(func(s replay.Store) replay.Store { return stingy{s} }),
	"clinging":  storeOf(func(s replay.Store) replay.Store { return clinging{s} }),
	"loose":     func(_ core.Transactor, s replay.Store) (core.Transactor, replay.Store) { return loose{}, s },
}

// TestModelTestDetectsFaults checks that the model test can fail. For each deliberately
// faulty store or transactor, one of 300 random schedules must show a difference from the
// model.
func TestModelTestDetectsFaults(t *testing.T) {
	t.Parallel()
	for name, broken := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storagetest.SQLite(t)
			for seed := range 300 {
				if play(newRig(t, db, broken), schedules.Example(seed)) != nil {
					t.Logf("seen in schedule %d", seed)
					return
				}
			}
			t.Error("no schedule shows it")
		})
	}
}
