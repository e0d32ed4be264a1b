package signing_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// counted is a signing.Store that counts the reads of the signing keys.
type counted struct {
	signing.Store
	reads atomic.Int32
}

func (c *counted) SigningKeys(ctx context.Context) ([]signing.Key, error) {
	c.reads.Add(1)
	return c.Store.SigningKeys(ctx)
}

// signing returns a new Keys, as another process over the same store would have.
func (g *gate) signing(store signing.Store, master signing.MasterKey) *signing.Keys {
	g.t.Helper()
	keys, err := signing.NewKeys(g.t.Context(), store, master, g.clock)
	g.must(err)
	return keys
}

func (g *gate) rotation(master signing.MasterKey) signing.Rotation {
	return signing.Rotation{Store: g.db.SigningKeys(), Transactor: g.db, Master: master, Clock: g.clock}
}

func (g *gate) rotate(master signing.MasterKey, atOnce bool) string {
	g.t.Helper()
	next, err := g.rotation(master).Rotate(g.t.Context(), atOnce)
	g.must(err)
	return next.ID
}

func current(k *signing.Keys) string {
	id, _ := k.Current()
	return id
}

func (g *gate) expectKeys(k *signing.Keys, signs string, published ...string) {
	g.t.Helper()
	var ids []string
	for _, key := range k.PublicKeys() {
		ids = append(ids, key.ID)
		if _, ok := k.Public(g.t.Context(), key.ID); !ok {
			g.t.Errorf("%s is published and not accepted", key.ID)
		}
	}
	if got := current(k); got != signs || !cmp.Equal(ids, published) {
		g.t.Errorf("%s signs of %v, want %s of %v", got, ids, signs, published)
	}
}

func TestSigningKeysOfTwoProcessesAreOne(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, master := newGate(t, db), masterKey(t)
		ids := make([]string, 4)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				keys, err := signing.NewKeys(t.Context(), g.db.SigningKeys(), master, g.clock)
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = current(keys)
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] || !core.IsID(id) {
				t.Fatalf("kids %q", ids)
			}
		}
	})
}

func TestSigningKeysNeedTheirMasterKey(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, right, wrong := newGate(t, db), masterKey(t), masterKey(t)
		keys := g.signing(g.db.SigningKeys(), right)
		if _, err := signing.NewKeys(t.Context(), g.db.SigningKeys(), wrong, g.clock); err == nil || !strings.Contains(err.Error(), "master key") {
			t.Errorf("opened with another master key: %v", err)
		}
		for _, atOnce := range []bool{true, false} {
			if _, err := g.rotation(wrong).Rotate(t.Context(), atOnce); err == nil || !strings.Contains(err.Error(), "master key") {
				t.Errorf("rotated with another master key: %v", err)
			}
		}
		stored, err := g.db.SigningKeys().SigningKeys(t.Context())
		if err != nil || len(stored) != 1 || stored[0].RetiredAt != nil {
			t.Errorf("the store holds %+v, %v", stored, err)
		}

		// If the master key does not decrypt a stored key, Reload fails. The process then
		// keeps the keys that it has.
		foreign, err := newGate(t, storagetest.SQLite(t)).rotation(wrong).Rotate(t.Context(), true)
		g.must(err)
		g.must(g.db.SigningKeys().RotateSigningKey(t.Context(), foreign, start))
		if err := keys.Reload(t.Context()); err == nil {
			t.Error("a key that does not open was loaded")
		}
		g.expectKeys(keys, stored[0].ID, stored[0].ID)
	})
}

// TestRetiredKeysNeedTheirMasterKey checks that NewKeys stores no key if all stored keys are
// retired and the master key does not decrypt them. With the right master key it creates
// one.
func TestRetiredKeysNeedTheirMasterKey(t *testing.T) {
	t.Parallel()
	g, right, wrong := newGate(t, storagetest.SQLite(t)), masterKey(t), masterKey(t)
	store := g.db.SigningKeys()
	g.signing(store, right)
	_, err := g.db.Writer().ExecContext(t.Context(), "UPDATE signing_keys SET retired_at = created_at")
	g.must(err)
	if _, err := signing.NewKeys(t.Context(), store, wrong, g.clock); err == nil || !strings.Contains(err.Error(), "master key") {
		t.Errorf("opened with another master key: %v", err)
	}
	if stored, err := store.SigningKeys(t.Context()); err != nil || len(stored) != 1 {
		t.Fatalf("the store has %+v, %v", stored, err)
	}
	g.advance(time.Second)
	g.signing(store, right)
	if stored, err := store.SigningKeys(t.Context()); err != nil || len(stored) != 2 || stored[0].RetiredAt != nil {
		t.Errorf("the store has %+v, %v", stored, err)
	}
}

// TestRotationOverlaps checks a rotation with a notice period. The next key is published at
// once. It signs after the notice period, when every process has read it. Tokens of the old
// key are accepted until they expire, and then the key is purged.
func TestRotationOverlaps(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, master := newGate(t, db), masterKey(t)
		here, there := g.signing(g.db.SigningKeys(), master), g.signing(g.db.SigningKeys(), master)
		old := current(here)
		next := g.rotate(master, false)
		g.expectKeys(there, old, old)
		for _, process := range []*signing.Keys{here, there} {
			g.must(process.Reload(t.Context()))
			g.expectKeys(process, old, next, old)
		}
		if _, err := g.rotation(master).Rotate(t.Context(), false); err == nil || core.AsError(err).Code != core.CodeConflict {
			t.Errorf("a second rotation under way: %v", err)
		}
		g.advance(signing.Notice - time.Second)
		g.expectKeys(here, old, next, old)
		g.advance(time.Second)
		g.expectKeys(here, next, next, old)
		g.advance(signing.Overlap - time.Second)
		g.expectKeys(here, next, next, old)
		g.advance(time.Second)
		g.expectKeys(here, next, next)
		if _, ok := here.Public(t.Context(), old); ok {
			t.Error("the old key is accepted when its last token has expired")
		}

		purge := signing.PurgeWorker(db.SigningKeys(), g.clock, slog.New(slog.DiscardHandler))
		// a purge at the time of expiry keeps the key; a microsecond later, it is deleted
		for i, left := range []int{2, 1} {
			g.advance(time.Duration(i) * time.Microsecond)
			g.must(purge.Work(t.Context(), signing.PurgeArgs{}))
			if stored, err := g.db.SigningKeys().SigningKeys(t.Context()); err != nil || len(stored) != left || stored[0].ID != next {
				t.Errorf("after a purge: %d keys, %v", len(stored), err)
			}
		}
		g.must(here.Reload(t.Context()))
		g.expectKeys(here, next, next)
	})
}

// TestRotationAtOnce checks a rotation without notice. Another process that has not read
// the keys since the rotation still signs with the retired key. It reads the new key when
// it receives a token that was signed with the new key.
func TestRotationAtOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, master := newGate(t, db), masterKey(t)
		here, there := g.signing(g.db.SigningKeys(), master), g.signing(g.db.SigningKeys(), master)
		old := current(here)
		waiting := g.rotate(master, false)
		g.advance(time.Second)
		next := g.rotate(master, true)
		g.must(here.Reload(t.Context()))
		g.expectKeys(here, next, next, waiting, old)
		g.expectKeys(there, old, old)
		if _, ok := there.Public(t.Context(), next); !ok {
			t.Error("the new key is unknown in the other process")
		}
		g.expectKeys(there, next, next, waiting, old)

		stored, err := g.db.SigningKeys().SigningKeys(t.Context())
		g.must(err)
		want := []signing.State{signing.Signing, signing.Retired, signing.Retired}
		if got := signing.States(stored, g.clock()); !cmp.Equal(got, want) {
			t.Errorf("states %v, want %v", got, want)
		}
	})
}

// TestRevokingOldKeys checks that a process rejects revoked keys after its next read of the
// keys. A token that the new key signed makes the process read them.
func TestRevokingOldKeys(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, master := newGate(t, db), masterKey(t)
		here, there := g.signing(g.db.SigningKeys(), master), g.signing(g.db.SigningKeys(), master)
		old, waiting := current(here), g.rotate(master, false)
		g.must(here.Reload(t.Context()))
		g.must(there.Reload(t.Context()))
		if _, err := g.rotation(masterKey(t)).RevokeOld(t.Context()); err == nil || !strings.Contains(err.Error(), "master key") {
			t.Errorf("revoked with another master key: %v", err)
		}
		g.advance(time.Second)
		next, err := g.rotation(master).RevokeOld(t.Context())
		g.must(err)
		g.must(here.Reload(t.Context()))
		g.expectKeys(there, old, waiting, old) // this process has not read the keys since the revocation
		if _, ok := there.Public(t.Context(), next.ID); !ok {
			t.Error("the new key is unknown in the other process")
		}
		g.advance(signing.ReloadEvery)
		for _, process := range []*signing.Keys{here, there} {
			g.expectKeys(process, next.ID, next.ID)
			for _, gone := range []string{old, waiting} {
				if _, ok := process.Public(t.Context(), gone); ok {
					t.Error("a revoked key is accepted")
				}
			}
		}
		g.expectKeys(g.signing(g.db.SigningKeys(), master), next.ID, next.ID)
	})
}

func TestOneRotationAtATime(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, master := newGate(t, db), masterKey(t)
		g.signing(g.db.SigningKeys(), master)
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				_, err := g.rotation(master).Rotate(t.Context(), false)
				if err == nil {
					won.Add(1)
				} else if core.AsError(err).Code != core.CodeConflict {
					t.Errorf("a loser: %v", err)
				}
			})
		}
		wg.Wait()
		if stored, err := g.db.SigningKeys().SigningKeys(t.Context()); err != nil || won.Load() != 1 || len(stored) != 2 {
			t.Errorf("%d rotations, %d keys, %v", won.Load(), len(stored), err)
		}
	})
}

// TestUnknownKeysAreAskedForOnceASecond checks that forged key ids cause at most one read
// of the store per second, and that a new key is found within a second.
func TestUnknownKeysAreAskedForOnceASecond(t *testing.T) {
	t.Parallel()
	g, master := newGate(t, storagetest.SQLite(t)), masterKey(t)
	store := &counted{Store: g.db.SigningKeys()}
	keys := g.signing(store, master)
	before := store.reads.Load()
	flood := func() {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 20 {
					if _, ok := keys.Public(t.Context(), core.NewID()); ok {
						t.Error("a forged kid has a key")
					}
					keys.Public(t.Context(), "not an id")
				}
			})
		}
		wg.Wait()
	}
	for second := range 3 {
		flood()
		if reads := int(store.reads.Load() - before); reads != second+1 {
			t.Errorf("second %d: %d reads", second, reads)
		}
		g.advance(time.Second)
	}
	next := g.rotate(master, true)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := keys.Public(canceled, next); !ok {
		t.Error("a caller that goes away keeps the others from the answer")
	}
}

func TestSigningKeysFollowTheStore(t *testing.T) {
	t.Parallel()
	g, master := newGate(t, storagetest.SQLite(t)), masterKey(t)
	keys := g.signing(g.db.SigningKeys(), master)
	next := g.rotate(master, true)
	ctx, cancel := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() {
		keys.Follow(ctx, ticks, slog.New(slog.DiscardHandler))
		close(ended)
	}()
	ticks <- start
	ticks <- start // Follow receives the second tick only after it has read the keys for the first one
	if got := current(keys); got != next {
		t.Errorf("%s signs after a tick, want %s", got, next)
	}
	cancel()
	<-ended
}

// slow is a signing.Store whose reads of the keys fail. Each read first calls the function
// takes, which makes it slow.
type slow struct {
	counted
	takes func()
}

func (s *slow) SigningKeys(ctx context.Context) ([]signing.Key, error) {
	s.reads.Add(1)
	s.takes()
	return nil, ctx.Err()
}

// TestUnknownKeysBesideASlowStore checks that callers with unknown key ids do not read the
// store again just after a slow read. Otherwise such callers would wait longer and longer.
func TestUnknownKeysBesideASlowStore(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	store := &switched{Store: g.db.SigningKeys()}
	keys := g.signing(store, masterKey(t))
	failing := &slow{takes: func() { g.advance(2 * time.Second) }}
	store.Store, failing.Store = failing, g.db.SigningKeys()
	for range 5 {
		if _, ok := keys.Public(t.Context(), core.NewID()); ok {
			t.Error("an unknown key is good")
		}
	}
	if got := failing.reads.Load(); got != 1 {
		t.Errorf("asked %d times in the second after the answer", got)
	}
}

// switched is a signing.Store whose implementation a test replaces.
type switched struct{ signing.Store }
