package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// TestGateKeepsLanesApart checks that other lanes (kinds of calls, see core.Lane) do not
// wait when all connections of one lane are in use.
func TestGateKeepsLanesApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := engine.NewTestGate(map[core.Lane]int{core.Calls: 2, core.Vital: 1})
		var leave []func()
		for range 2 {
			out, err := g.Enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, out)
		}
		began := time.Now()
		if _, err := g.Enter(core.WithLane(t.Context(), core.Vital)); err != nil || time.Since(began) != 0 {
			t.Errorf("tokens waited %s, %v", time.Since(began), err)
		}
		_, err := g.Enter(t.Context())
		if e := core.AsError(err); e == nil || e.Code != core.CodeOverloaded || e.RetryAfter == 0 || time.Since(began) != 2*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		leave[0]()
		if _, err := g.Enter(t.Context()); err != nil {
			t.Errorf("a free connection: %v", err)
		}
	})
}

// TestGateForgetsWhoLeaves checks that a caller whose context ends leaves the queue. The
// connection must then go to the next caller.
func TestGateForgetsWhoLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := heldGate(t)
		gone, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() {
			_, err := g.Enter(gone)
			result <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("who left: %v", err)
		}
		leave()
		if _, err := g.Enter(t.Context()); err != nil {
			t.Errorf("after who left: %v", err)
		}
	})
}

// TestGateKeepsAConnectionOfALateWaiter checks that the gate loses no connection if a
// caller gets one too late: after its context has ended, but before it has left the queue.
// Whether this happens depends on chance, so the test repeats the attempt.
func TestGateKeepsAConnectionOfALateWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := heldGate(t)
		for round := range 200 {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan func())
			go func() {
				out, err := g.Enter(ctx)
				if err != nil {
					out = nil
				}
				ended <- out
			}()
			synctest.Wait()
			cancel()
			leave()
			if out := <-ended; out != nil {
				out()
			}
			var err error
			if leave, err = g.Enter(t.Context()); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	})
}

// TestGateRanks checks the order in which waiting callers get a single connection: token
// checks first, then other calls, then jobs. A job must get it after eight other callers at
// the latest.
func TestGateRanks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := heldGate(t)
		var order []core.Lane
		wait := func(lane core.Lane, n int) {
			for range n {
				go func() {
					out, err := g.Enter(core.WithLane(t.Context(), lane))
					if err != nil {
						t.Error(err)
						return
					}
					order = append(order, lane)
					out()
				}()
				synctest.Wait()
			}
		}
		wait(core.Background, 2)
		wait(core.Calls, 12)
		wait(core.Vital, 1)
		leave()
		synctest.Wait()
		if len(order) != 15 || order[0] != core.Vital || slices.Contains(order[:8], core.Background) || order[8] != core.Background || order[14] != core.Background {
			t.Errorf("served in the order %v", order)
		}
	})
}

func TestGateLetsJobsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := heldGate(t)
		time.AfterFunc(time.Minute, leave)
		began := time.Now()
		if _, err := g.Enter(core.WithLane(t.Context(), core.Background)); err != nil || time.Since(began) != time.Minute {
			t.Errorf("a job waited %s, %v", time.Since(began), err)
		}
	})
}

// heldGate returns a gate with one connection, which is in use until leave is called.
func heldGate(t *testing.T) (g engine.TestGate, leave func()) {
	t.Helper()
	g = engine.NewTestGate(map[core.Lane]int{core.Calls: 1})
	leave, err := g.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g, leave
}
