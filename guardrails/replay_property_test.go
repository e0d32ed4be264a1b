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

// TestReplaysFollowTheModel over schedules of calls, duplicates, callers who
// leave, processes that die, retries and clocks that jump.
func TestReplaysFollowTheModel(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	rapid.Check(t, func(rt *rapid.T) {
		if err := play(newRig(t, db, nil), schedules.Draw(rt, "schedule")); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestReplaysFollowTheModelOnPostgreSQL: PostgreSQL gets fewer: what differs there is how
// the rows are locked, which the histories look into.
func TestReplaysFollowTheModelOnPostgreSQL(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	for seed := range 25 {
		if err := play(newRig(t, db, nil), schedules.Example(seed)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// The faults below are those that a change may bring into a store or a transactor.

// forgetful does not keep results.
type forgetful struct{ replay.Store }

// Complete forgets.
func (forgetful) Complete(context.Context, replay.Key, replay.Token, replay.Outcome) error {
	return nil
}

// generous gives every caller the key.
type generous struct{ replay.Store }

// Reserve is always won.
func (g generous) Reserve(ctx context.Context, k replay.Key, claim replay.Claim, now time.Time) (replay.Record, bool, error) {
	found, won, err := g.Store.Reserve(ctx, k, claim, now)
	return found, won || !found.Done, err
}

// eternal has leases that do not end.
type eternal struct{ replay.Store }

// Reserve takes the time for a year earlier.
func (e eternal) Reserve(ctx context.Context, k replay.Key, claim replay.Claim, now time.Time) (replay.Record, bool, error) {
	return e.Store.Reserve(ctx, k, claim, now.AddDate(-1, 0, 0))
}

// careless does not ask who completes, so a call whose lease ran out has an effect
// beside that of the one who took over.
type careless struct{ replay.Store }

// Complete lets everything pass.
func (c careless) Complete(ctx context.Context, k replay.Key, token replay.Token, outcome replay.Outcome) error {
	_ = c.Store.Complete(ctx, k, token, outcome)
	return nil
}

// stingy keeps no explicit key longer than a derived one.
type stingy struct{ replay.Store }

// Complete shortens the window.
func (s stingy) Complete(ctx context.Context, k replay.Key, token replay.Token, outcome replay.Outcome) error {
	if !strings.HasPrefix(k.Space, "derived:") {
		outcome.Expires = outcome.Expires.Add(5*time.Minute - 24*time.Hour)
	}
	return s.Store.Complete(ctx, k, token, outcome)
}

// clinging never releases a key.
type clinging struct{ replay.Store }

// Release does nothing.
func (clinging) Release(context.Context, replay.Key, replay.Token) error { return nil }

// loose runs everything outside a transaction.
type loose struct{}

// InTx undoes nothing.
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

// TestTheModelSeesFaults: faults in the rails must be found: the checker fails for each
// of these.
func TestTheModelSeesFaults(t *testing.T) {
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
