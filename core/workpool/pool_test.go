package workpool_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// TestLimit finds more items than may run. As soon as one ends, the next begins, without a
// tick.
func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 2, "a", "b", "c", "d")
		defer q.follow()()
		q.runs("a", "b")
		q.set(nil, "b", "c", "d")
		q.end("a", outcome{})
		q.runs("b", "c")
		q.set(nil, "c", "d")
		q.end("b", outcome{})
		q.runs("c", "d")
		if want := []int{2, 1, 1}; !slices.Equal(q.rooms, want) {
			t.Errorf("Find was called with the rooms %v, want %v", q.rooms, want)
		}
	})
}

// TestFullPoolFindsNothing looks while the pool is full.
func TestFullPoolFindsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 1, "a", "b")
		defer q.follow()()
		q.tick()
		q.tick()
		if len(q.rooms) != 1 || q.befores != 3 {
			t.Errorf("%d calls of Find and %d of Before, want 1 and 3", len(q.rooms), q.befores)
		}
	})
}

// TestRunningItemBeginsOnce finds an item again while it runs and after it ended.
// TestBatch lets a full pool end items one after another. It must look again only when there is
// room for a batch.
func TestBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var rooms []int
		next, end := 0, make(chan struct{})
		pool := workpool.New(workpool.Config[int]{
			Limit: 3, Batch: 2, Clock: core.SystemClock,
			Find: func(_ context.Context, room int) ([]int, error) {
				rooms = append(rooms, room)
				var found []int
				for range room {
					next++
					found = append(found, next)
				}
				return found, nil
			},
			Do: func(context.Context, int) (time.Time, error) {
				<-end
				return time.Time{}, nil
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		go pool.Follow(ctx, make(chan time.Time))
		for _, want := range [][]int{{3}, {3}, {3, 2}, {3, 2}, {3, 2, 2}} {
			synctest.Wait()
			if !slices.Equal(rooms, want) {
				t.Errorf("looked with room for %v, want %v", rooms, want)
			}
			end <- struct{}{}
		}
		cancel()
		close(end)
	})
}

func TestRunningItemBeginsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 3, "a", "a")
		defer q.follow()()
		q.tick()
		q.runs("a")
		if want := []int{3, 2}; !slices.Equal(q.rooms, want) {
			t.Errorf("Find was called with the rooms %v, want %v", q.rooms, want)
		}
		q.end("a", outcome{})
		q.runs() // the pool was not full, so the item begins at the next look
		q.tick()
		q.runs("a")
		q.logs(0)
	})
}

// TestEndRests ends the rests of one item that rests, and of one that runs and asks for a rest
// afterwards. Another item rests on.
func TestEndRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 4, "runs", "rests", "other")
		defer q.follow()()
		later := core.SystemClock().Add(time.Hour)
		for _, item := range []string{"rests", "other"} {
			q.end(item, outcome{rest: later})
		}
		q.tick()
		q.runs("runs")
		q.EndRests(func(item string) bool { return item != "other" })
		synctest.Wait()
		q.runs("rests", "runs")
		q.end("runs", outcome{rest: later})
		q.runs("rests", "runs")
		q.end("runs", outcome{rest: later}) // EndRests was before this one began
		q.tick()
		q.runs("rests")
	})
}

// TestRest lets an item rest because it asked for that, because it failed, and because it
// panicked. It must not take the place of another item, and must not begin before its time.
func TestRest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome
		asks, rests time.Duration
		lines       int
		log         string
	}{
		"asked":            {asks: 3 * time.Second, rests: 3 * time.Second},
		"failed":           {outcome: outcome{err: errBroken}, rests: retryAfter, lines: 1, log: "error=broken"},
		"asked and failed": {outcome: outcome{err: errBroken}, asks: 3 * time.Second, rests: retryAfter, lines: 1, log: "error=broken"},
		"panicked":         {outcome: outcome{panic: "ada@example.com"}, rests: retryAfter, lines: 1, log: "a value of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if c.asks > 0 {
					c.rest = core.SystemClock().Add(c.asks)
				}
				q := newQueue(t, 1, "a", "b")
				defer q.follow()()
				q.end("a", c.outcome)
				q.runs("b")
				q.set(nil, "a")
				q.end("b", outcome{})
				q.runs()
				q.logs(c.lines, "level=ERROR", `msg="do failed"`, "item=a", c.log)
				<-time.After(c.rests - time.Microsecond)
				q.tick()
				q.runs()
				<-time.After(time.Microsecond)
				q.tick()
				q.runs("a")
			})
		})
	}
}

// TestFindFails returns an item with an error. The item must begin, and Follow must go on.
func TestFindFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 2)
		q.set(errBroken, "a")
		defer q.follow()()
		q.runs("a")
		q.logs(1, "level=WARN", `msg="find failed"`, "error=broken")
		q.set(nil, "b")
		q.tick()
		q.runs("a", "b")
	})
}

// TestBeforeFails checks that a look whose preparation fails begins nothing.
func TestBeforeFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 1, "a")
		q.onBefore = func() error { return errBroken }
		if err := q.Look(t.Context()); !errors.Is(err, errBroken) || q.rooms != nil {
			t.Errorf("%v after %d calls of Find", err, len(q.rooms))
		}
	})
}

// TestStop ends the context of Follow while items run. Follow must wait for them, and begin
// nothing. Only the panic is logged.
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 2, "a", "b", "c")
		ctx, cancel := context.WithCancel(t.Context())
		done := false
		go func() {
			q.Follow(ctx, q.ticks)
			done = true
		}()
		synctest.Wait()
		if core.LaneOf(q.ctx) != core.Background {
			t.Error("the items are not on the lane of background work")
		}
		q.set(context.Canceled, "a", "b", "c")
		cancel()
		synctest.Wait()
		if q.ctx.Err() == nil {
			t.Error("the items are not told to stop")
		}
		q.end("a", outcome{err: context.Canceled})
		q.logs(0)
		q.runs("b")
		if done {
			t.Fatal("Follow returned before its items")
		}
		q.end("b", outcome{panic: "b"})
		q.logs(1, "item=b")
		q.runs()
		if !done {
			t.Error("Follow did not return")
		}
	})
}

// TestWakeDuringLook wakes the pool several times while it looks. It must look exactly once
// more.
func TestWakeDuringLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 1)
		q.onBefore = func() error {
			if q.befores == 1 {
				q.Wake()
				q.Wake()
			}
			return nil
		}
		defer q.follow()()
		if q.befores != 2 {
			t.Errorf("%d looks, want 2", q.befores)
		}
	})
}

// TestEndedContext checks that Follow begins nothing after its context has ended, and that it
// does not log the look that the end interrupted.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 1, "a")
	ctx, cancel := context.WithCancel(t.Context())
	q.onBefore = func() error {
		cancel()
		q.Wake()
		return ctx.Err()
	}
	for range 2 {
		q.Follow(ctx, q.ticks)
	}
	if q.befores != 1 || q.rooms != nil {
		t.Errorf("%d looks and %d calls of Find, want 1 and 0", q.befores, len(q.rooms))
	}
	q.logs(0)
}
