package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func newKey(t *testing.T, db *storage.DB) replay.Key {
	t.Helper()
	return replay.Key{OrgID: newOrg(t, db), Space: "rest:contacts_create", Key: "key"}
}

func TestReplayOfACompletedCall(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, k := t.Context(), db.Replay(), newKey(t, db)
		record, won, err := store.Reserve(ctx, k, replay.Claim{Digest: "d1"}, start)
		if err != nil || !won || record.Token == "" {
			t.Fatalf("a free key: %+v, %v, %v", record, won, err)
		}
		running, won, err := store.Reserve(ctx, k, replay.Claim{Digest: "d2"}, later(59))
		if err != nil || won || running.Done || running.Digest != "d1" || running.Token != "" {
			t.Errorf("while it runs: %+v, %v, %v", running, won, err)
		}
		result := []byte(`{"n":"ü"}`)
		must(t, store.Complete(ctx, k, record.Token, replay.Outcome{Result: result, Expires: later(1000)}))
		must(t, store.Release(ctx, k, record.Token)) // has no effect on a completed call
		done, won, err := store.Reserve(ctx, k, replay.Claim{Digest: "d2"}, later(999))
		if err != nil || won || !done.Done || done.Digest != "d1" || string(done.Result) != string(result) {
			t.Errorf("when it is done: %+v, %v, %v", done, won, err)
		}
		if _, won, err := store.Reserve(ctx, k, replay.Claim{Digest: "d2"}, later(1000)); err != nil || !won {
			t.Errorf("when it has expired: %v, %v", won, err)
		}
		for _, other := range []replay.Key{{OrgID: k.OrgID, Space: "agent:x", Key: k.Key}, {OrgID: k.OrgID, Space: k.Space, Key: "KEY"}} {
			if _, won, err := store.Reserve(ctx, other, replay.Claim{Digest: "d1"}, start); err != nil || !won {
				t.Errorf("the other key %v: %v, %v", other, won, err)
			}
		}
	})
}

// TestALostReservation checks that a call cannot complete an idempotency key after its
// reservation expired and another call reserved the key. Both calls have the same
// arguments.
func TestALostReservation(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, k := t.Context(), db.Replay(), newKey(t, db)
		slow, _, err := store.Reserve(ctx, k, replay.Claim{Digest: "same"}, start)
		must(t, err)
		heir, won, err := store.Reserve(ctx, k, replay.Claim{Digest: "same"}, start.Add(replay.Lease))
		if err != nil || !won {
			t.Fatalf("taking over: %v, %v", won, err)
		}
		err = db.InTx(ctx, func(ctx context.Context) error {
			must(t, db.Contacts().InsertContact(ctx, k.OrgID, newContact("half@x")))
			return store.Complete(ctx, k, slow.Token, replay.Outcome{Result: []byte("slow"), Expires: later(1000)})
		})
		wantCode(t, "completing a lost reservation", err, core.CodeConflict)
		_, err = db.Contacts().ContactByEmail(ctx, k.OrgID, "half@x")
		wantCode(t, "what the slow call wrote", err, core.CodeNotFound)

		must(t, store.Release(ctx, k, slow.Token)) // has no effect, because the key belongs to another call now
		must(t, store.Complete(ctx, k, heir.Token, replay.Outcome{Result: []byte("heir"), Expires: later(1000)}))
		wantCode(t, "completing twice", store.Complete(ctx, k, heir.Token, replay.Outcome{Result: nil, Expires: later(1000)}), core.CodeConflict)
	})
}

func TestReleaseFreesTheKey(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, k := t.Context(), db.Replay(), newKey(t, db)
		record, _, err := store.Reserve(ctx, k, replay.Claim{Digest: "d"}, start)
		must(t, err)
		must(t, store.Release(ctx, k, record.Token))
		if _, won, err := store.Reserve(ctx, k, replay.Claim{Digest: "other"}, start); err != nil || !won {
			t.Errorf("after Release: %v, %v", won, err)
		}
	})
}

func TestRacesForAKey(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const racers = 100
		store, k := db.Replay(), newKey(t, db)
		// In round 0 the key is free. In later rounds the reservation of the previous round
		// has expired.
		for round := range 3 {
			now := start.Add(replay.Lease * 2 * (1 << round))
			var winners atomic.Int32
			for _, err := range atOnce(racers, func(int) error {
				_, won, err := store.Reserve(t.Context(), k, replay.Claim{Digest: "d"}, now)
				if won {
					winners.Add(1)
				}
				return err
			}) {
				must(t, err)
			}
			if winners.Load() != 1 {
				t.Errorf("round %d: %d winners, want 1", round, winners.Load())
			}
		}
	})
}

// TestReserveDoesNotWaitForComplete checks that Reserve returns at once while an
// uncommitted transaction completes the same key.
func TestReserveDoesNotWaitForComplete(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		if db.Engine() == "sqlite" {
			return // SQLite has one writer, so Reserve waits until the transaction of Complete has ended
		}
		store, k := db.Replay(), newKey(t, db)
		record, _, err := store.Reserve(t.Context(), k, replay.Claim{Digest: "d"}, start)
		must(t, err)
		must(t, db.InTx(t.Context(), func(ctx context.Context) error {
			if err := store.Complete(ctx, k, record.Token, replay.Outcome{Result: []byte("{}"), Expires: later(1000)}); err != nil {
				return err
			}
			seen, won, err := store.Reserve(t.Context(), k, replay.Claim{Digest: "d"}, start)
			if err != nil || won || seen.Done {
				t.Errorf("while it commits: %+v, %v, %v", seen, won, err)
			}
			return nil
		}))
	})
}

func TestReserveRefusesATransaction(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		k := newKey(t, db)
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			_, _, err := db.Replay().Reserve(ctx, k, replay.Claim{Digest: "d"}, start)
			return err
		})
		if err == nil {
			t.Error("a reservation that a rollback would undo was made")
		}
	})
}

func TestSpendAndPurge(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, k := t.Context(), db.Replay(), newKey(t, db)
		const racers = 20
		var fresh atomic.Int32
		for _, err := range atOnce(racers, func(int) error {
			ok, err := store.Spend(t.Context(), k.OrgID, "c", later(100))
			if ok {
				fresh.Add(1)
			}
			return err
		}) {
			must(t, err)
		}
		if fresh.Load() != 1 {
			t.Errorf("spent %d times", fresh.Load())
		}

		undone := errors.New("by test")
		err := db.InTx(ctx, func(ctx context.Context) error {
			if ok, err := store.Spend(ctx, k.OrgID, "undone", later(100)); err != nil || !ok {
				t.Errorf("in a transaction: %v, %v", ok, err)
			}
			return undone
		})
		if ok, spendErr := store.Spend(ctx, k.OrgID, "undone", later(200)); !errors.Is(err, undone) || spendErr != nil || !ok {
			t.Errorf("after a rollback: %v, %v, %v", ok, err, spendErr)
		}

		_, _, err = store.Reserve(ctx, k, replay.Claim{Digest: "d"}, start) // the reservation expires after 60 s
		must(t, err)
		for _, step := range []struct{ at, want int }{{59, 0}, {60, 1}, {100, 1}, {199, 0}, {200, 1}, {201, 0}} {
			if n, err := store.Purge(ctx, later(step.at)); err != nil || n != step.want {
				t.Errorf("Purge at %d s: %d, %v; want %d", step.at, n, err, step.want)
			}
		}
	})
}

// TestAReservationOfOneWhoLeftIsFree checks that a key is free again if the caller's
// context ends during Reserve. The reservation may have been stored although the statement
// returned an error.
func TestAReservationOfOneWhoLeftIsFree(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		store, org := db.Replay(), core.NewID()
		for i := range 400 {
			k := replay.Key{OrgID: org, Space: "rest:x", Key: fmt.Sprint(i)}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%80)*10*time.Microsecond)
			_, won, err := store.Reserve(ctx, k, replay.Claim{Digest: "digest"}, start)
			cancel()
			if won && err == nil {
				continue
			}
			if _, won, err = store.Reserve(t.Context(), k, replay.Claim{Digest: "digest"}, start); err != nil || !won {
				t.Fatalf("the key of call %d is held by nobody: %v, %v", i, won, err)
			}
		}
	})
}
