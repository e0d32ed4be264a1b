package guardrails_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// node is one of several simulated processes over one database. They share the
// organization, the caller and the clock.
type node struct {
	*bundle
	process *replay.Process
	store   *brokenStore
}

// brokenStore is a store that cannot release keys while its field down is true.
type brokenStore struct {
	replay.Store
	down atomic.Bool
}

var errDown = errors.New("the database is away")

// Release releases the key, or fails with errDown while down is set.
func (s *brokenStore) Release(ctx context.Context, k replay.Key, token replay.Token) error {
	if s.down.Load() {
		return errDown
	}
	return s.Store.Release(ctx, k, token)
}

func (b *bundle) node(t *testing.T, alone bool) *node {
	t.Helper()
	own := &bundle{
		db: b.db, clock: b.clock, log: &bytes.Buffer{}, principal: b.principal, preview: b.preview,
		entered: make(chan struct{}, 100), release: make(chan struct{}),
	}
	n := &node{bundle: own, store: &brokenStore{Store: b.db.Replay()}}
	n.process = replay.NewProcess(replay.ProcessConfig{
		Store: b.db.Processes(), Replays: n.store, Clock: b.clock.Now, Log: slog.New(slog.DiscardHandler), Alone: alone,
	})
	if err := n.process.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	own.mount(n.store, n.process)
	return n
}

// stopBeats advances the clock until all processes that are not listed in alive count as
// ended. Only the listed processes store heartbeats during this time.
func stopBeats(t *testing.T, b *bundle, alive ...*node) {
	t.Helper()
	for range 4 {
		b.clock.advance(replay.Beat)
		for _, n := range alive {
			n.process.Tick(t.Context())
		}
	}
}

// startHeldCall starts a call that keeps its idempotency key reserved until finish is
// called. finish returns the error of the call.
func (n *node) startHeldCall(t *testing.T, key string) (finish func() *core.Error) {
	t.Helper()
	ended := make(chan *core.Error, 1)
	go func() {
		_, err := n.call(t, "op_block", withKey(key))
		ended <- err
	}()
	<-n.entered
	return func() *core.Error {
		close(n.release)
		return <-ended
	}
}

// TestAReservationEndsWithItsProcess checks a process that has reserved an idempotency key
// and stores no heartbeats. Only one other call may take over the key. If the process was
// only slow, its own call must fail without an effect.
func TestAReservationEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		slow, heir, other := b.node(t, false), b.node(t, false), b.node(t, false)
		finish := slow.startHeldCall(t, "k")
		stopBeats(t, b, heir, other)
		close(heir.release)
		close(other.release)
		var wait sync.WaitGroup
		var made atomic.Int32
		for _, n := range []*node{heir, other} {
			for range 8 {
				wait.Go(func() {
					result, err := n.call(t, "op_block", withKey("k"))
					switch {
					case err == nil && !result.Replayed:
						made.Add(1)
					case err != nil && (err.Code != core.CodeConflict || err.RetryAfter != replay.Beat):
						t.Errorf("error = %v", err)
					}
				})
			}
		}
		beating := beat(t, b, heir, other)
		wait.Wait()
		beating()
		if made.Load() != 1 {
			t.Errorf("%d callers had an effect, want 1", made.Load())
		}
		wantCode(t, finish(), core.CodeConflict)
		if n := b.countAudited(t); n != 1 {
			t.Errorf("%d effects, want 1", n)
		}
	})
}

// beat stores heartbeats for the processes in the parameter alive, and advances the clock
// slowly, until stop is called.
func beat(t *testing.T, b *bundle, alive ...*node) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			b.clock.advance(time.Millisecond)
			for _, n := range alive {
				n.process.Tick(ctx)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// TestALivingProcessKeepsItsReservations checks that a process keeps its reserved key as
// long as it stores heartbeats, however long the call takes. A call with the same key in
// another process must fail with a conflict.
func TestALivingProcessKeepsItsReservations(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		working, other := b.node(t, false), b.node(t, false)
		finish := working.startHeldCall(t, "k")
		for range 5 {
			stopBeats(t, b, working, other)
		}
		stop := beat(t, b, working, other)
		_, err := other.call(t, "op_block", withKey("k"))
		stop()
		if err == nil || err.Code != core.CodeConflict || err.RetryAfter != replay.Beat {
			t.Errorf("elsewhere: %v, want a conflict to retry after a second", err)
		}
		_, err = working.call(t, "op_block", withKey("k"))
		if err == nil || err.Code != core.CodeConflict || err.RetryAfter != replay.Beat {
			t.Errorf("in the same process: %v, want a conflict to retry after a second", err)
		}
		if err := finish(); err != nil {
			t.Error(err)
		}
		if r := mustCall(t, other.bundle, "op_block", withKey("k")); !r.Replayed {
			t.Error("the result is not replayed elsewhere")
		}
	})
}

// TestKeysAreGivenBack checks when an idempotency key can be used again after a call failed
// and could not release the key. The process that ran the call can use the key at once.
// Another process can use it after the first process's next heartbeat that reaches the
// database. If the first process has stopped or was replaced by a new one, the key can be
// used at once.
func TestKeysAreGivenBack(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for name, tc := range map[string]struct {
			operation string
			edit      func(n *node)
			context   func(context.Context) context.Context
		}{
			"a failure":         {operation: "op_write", edit: func(n *node) { n.failNext = errors.New("no") }},
			"a panic":           {operation: "op_crash", edit: func(n *node) { n.failNext = errors.New("panic") }},
			"a caller who left": {operation: "op_write", context: cancelContext},
		} {
			t.Run(name, func(t *testing.T) {
				b := setupOn(t, db)
				n, other := b.node(t, false), b.node(t, false)
				for i, again := range []*node{n, other} {
					key := withKey([]string{"own", "other"}[i])
					n.store.down.Store(true)
					if tc.edit != nil {
						tc.edit(n)
					}
					if err := n.callIn(t, tc.context, tc.operation, key); err == nil {
						t.Fatal("the call succeeded")
					}
					if again == other { // the database is back
						n.store.down.Store(false)
						b.clock.advance(replay.Beat)
						n.process.Tick(t.Context())
					}
					if r := mustCall(t, again.bundle, tc.operation, key); r.Replayed {
						t.Error("a call that failed left a result")
					}
					n.store.down.Store(false)
				}
				if got := b.countAudited(t); got != 2 {
					t.Errorf("%d effects, want 2", got)
				}
			})
		}
		t.Run("a process that stopped", func(t *testing.T) {
			b := setupOn(t, db)
			n, other := b.node(t, false), b.node(t, false)
			close(other.release)
			finish := n.startHeldCall(t, "k")
			if err := n.process.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			other.process.Tick(t.Context())
			mustCall(t, other.bundle, "op_block", withKey("k"))
			wantCode(t, finish(), core.CodeConflict)
		})
		t.Run("an earlier process", func(t *testing.T) {
			b := setupOn(t, db)
			earlier := b.node(t, true)
			finish := earlier.startHeldCall(t, "k")
			next := b.node(t, true)
			close(next.release)
			mustCall(t, next.bundle, "op_block", withKey("k"))
			wantCode(t, finish(), core.CodeConflict)
			if got := b.countAudited(t); got != 1 {
				t.Errorf("%d effects, want 1", got)
			}
		})
	})
}

func cancelContext(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// callIn makes a call of an operation. The given function returns the context of the call.
// If the function is nil, the call has the test's usual context.
func (n *node) callIn(t *testing.T, in func(context.Context) context.Context, operation string, edit func(*guardrails.Request)) error {
	t.Helper()
	if in == nil {
		_, err := n.call(t, operation, edit)
		return err
	}
	op, _ := n.catalogue.Operation(operation)
	req := guardrails.Request{Principal: n.principal, Surface: core.Agent, RequestID: "req-1", Arguments: sayingSo[0]}
	edit(&req)
	_, err := op.Call(in(t.Context()), req)
	return err
}
