package guardrails_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/prometheus/client_golang/prometheus"
)

// reads starts expensive reads that run until the test ends them.
type reads struct {
	guard *guardrails.Guard
	mu    sync.Mutex
	// began has the names of the calls that got a slot, in order.
	began []string
	ended map[string]error
	end   chan struct{}
}

func newReads(slots int) *reads {
	return &reads{
		guard: guardrails.New(guardrails.Config{ExpensiveSlots: slots, Metrics: prometheus.NewRegistry(), Clock: time.Now}),
		ended: map[string]error{}, end: make(chan struct{}),
	}
}

// start starts an expensive read and returns once it runs, waits in the queue or was
// refused.
func (r *reads) start(ctx context.Context, org, name string) {
	go func() {
		err := r.guard.RunExpensive(ctx, org, func(ctx context.Context) error {
			r.mu.Lock()
			r.began = append(r.began, name)
			r.mu.Unlock()
			select {
			case <-r.end:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended[name] = err
	}()
	synctest.Wait()
}

// endOne ends one of the running reads.
func (r *reads) endOne() {
	r.end <- struct{}{}
	synctest.Wait()
}

// outcome returns the error with which a call ended. It returns nil if the call succeeded
// or has not ended.
func (r *reads) outcome(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended[name]
}

func (r *reads) want(t *testing.T, began ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.began, began) {
		t.Errorf("slots went to %v, want %v", r.began, began)
	}
}

func isRefusedAs(err error, code core.Code) bool {
	e, ok := errors.AsType[*core.Error](err)
	return ok && e.Code == code
}

func TestAnOrganizationHoldsTwoSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReads(4)
		for _, name := range []string{"a1", "a2", "a3", "a4"} {
			r.start(t.Context(), "a", name)
		}
		r.want(t, "a1", "a2")
		r.start(t.Context(), "b", "b1")
		r.want(t, "a1", "a2", "b1")
		close(r.end)
		synctest.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.began) != 5 || len(r.ended) != 5 {
			t.Errorf("%v began, %v ended", r.began, r.ended)
		}
	})
}

// TestOrganizationsTakeTurns checks that a single slot for expensive reads goes to the
// organizations in rotation, however long their queues are. There is one slot if the
// database is SQLite on a machine with two processors.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReads(1)
		for _, name := range []string{"a1", "a2", "a3", "a4"} {
			r.start(t.Context(), "a", name)
		}
		r.start(t.Context(), "b", "b1")
		r.start(t.Context(), "c", "c1")
		r.start(t.Context(), "b", "b2")
		for range 7 {
			r.endOne()
		}
		r.want(t, "a1", "a2", "b1", "c1", "a3", "b2", "a4")
	})
}

func TestQueuesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReads(4)
		for i := range 18 {
			r.start(t.Context(), "a", string(rune('a'+i)))
		}
		began := time.Now()
		r.start(t.Context(), "a", "too many")
		err := r.outcome("too many")
		if e := core.AsError(err); !isRefusedAs(err, core.CodeOverloaded) || e.RetryAfter == 0 || time.Since(began) != 0 {
			t.Errorf("behind a full queue: %v", err)
		}
		r.start(t.Context(), "b", "another's")
		r.want(t, "a", "b", "another's")
		close(r.end)
	})
}

// TestWaitingCallsAreRefusedAfterFifteenSeconds checks that a call is refused if it gets no
// slot within 15 s. Once it has a slot, it may run for 12 s, however long it waited.
func TestWaitingCallsAreRefusedAfterFifteenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReads(1)
		r.start(t.Context(), "a", "first")
		r.start(t.Context(), "b", "second")
		r.start(t.Context(), "c", "third")
		time.Sleep(13 * time.Second) //nolint:forbidigo // the clock of the bubble; nothing pauses
		if err := r.outcome("first"); !isRefusedAs(err, core.CodeValidationFailed) {
			t.Errorf("after its time: %v", err)
		}
		r.want(t, "first", "second")
		time.Sleep(3 * time.Second) //nolint:forbidigo // the clock of the bubble; nothing pauses
		if err := r.outcome("third"); !isRefusedAs(err, core.CodeOverloaded) {
			t.Errorf("without a slot: %v", err)
		}
		time.Sleep(5 * time.Second) //nolint:forbidigo // the clock of the bubble; nothing pauses
		if err := r.outcome("second"); err != nil {
			t.Errorf("the time in the queue counts: %v", err)
		}
		close(r.end)
	})
}

func TestWhoLeavesTheQueueIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReads(1)
		r.start(t.Context(), "a", "first")
		gone, cancel := context.WithCancel(t.Context())
		r.start(gone, "b", "gone")
		r.start(t.Context(), "c", "next")
		cancel()
		synctest.Wait()
		if !errors.Is(r.outcome("gone"), context.Canceled) {
			t.Errorf("who left: %v", r.outcome("gone"))
		}
		r.endOne()
		r.want(t, "first", "next")
		close(r.end)
	})
}

// TestExpensiveCallsWait checks that only expensive calls are limited, and that they run on
// database connections of their own.
func TestExpensiveCallsWait(t *testing.T) {
	t.Parallel()
	b := setup(t)
	heavy := make(chan guardrails.Result)
	for range 2 {
		go func() {
			result, _ := b.call(t, "op_heavy", nil)
			heavy <- result
		}()
		<-b.entered
	}
	third := make(chan guardrails.Result)
	go func() {
		result, _ := b.call(t, "op_heavy", nil)
		third <- result
	}()
	if _, err := b.call(t, "op_read", nil); err != nil {
		t.Errorf("another call: %v", err)
	}
	light := make(chan guardrails.Result)
	go func() {
		result, _ := b.call(t, "op_heavy", func(r *guardrails.Request) {
			r.Arguments = []byte(`{"email":"ann@example.com","note":"light"}`)
		})
		light <- result
	}()
	<-b.entered // a light call of the same operation runs while the third expensive call waits
	if len(b.entered) != 0 {
		t.Error("a third expensive call runs")
	}
	close(b.release)
	for calls, want := range map[chan guardrails.Result]string{light: "calls", third: "expensive"} {
		if got := idOf(<-calls); got != want {
			t.Errorf("it ran on the connections of %q, want %q", got, want)
		}
	}
	for range 2 {
		if got := idOf(<-heavy); got != "expensive" {
			t.Errorf("an expensive call ran on the connections of %q", got)
		}
	}
}

// TestLargeCalls checks that four large calls run at a time, two of one organization. Another one waits for
// five seconds, and is refused then.
func TestLargeCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newReads(1).guard.Catalogue(nil)
		enter := func(org string) (func(), time.Duration, error) {
			began := time.Now()
			leave, err := c.EnterLarge(t.Context(), org)
			return leave, time.Since(began), err
		}
		var held []func()
		for _, org := range []string{"a", "a", "b", "b"} {
			leave, waited, err := enter(org)
			if err != nil || waited != 0 {
				t.Fatalf("%s: %v after %v", org, err, waited)
			}
			held = append(held, leave)
		}
		for _, org := range []string{"a", "c"} {
			if _, waited, err := enter(org); !isRefusedAs(err, core.CodeOverloaded) || waited != 5*time.Second {
				t.Errorf("%s: %v after %v", org, err, waited)
			}
		}
		waiting := make(chan error)
		go func() { _, err := c.EnterLarge(t.Context(), "c"); waiting <- err }()
		synctest.Wait()
		held[0]()
		if err := <-waiting; err != nil {
			t.Errorf("after a slot was released: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.EnterLarge(gone, "d"); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that is gone: %v", err)
		}
	})
}
