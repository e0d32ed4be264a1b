package outbound

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestSlots checks the limits on concurrent requests to one host and to all hosts, and the
// limit on waiting requests. The values are the limits for fetching metadata documents of
// OAuth clients.
func TestSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := SlotLimits{All: 16, PerHost: 2, Waiting: 256}
		p := NewSlots(limits)
		ctx, cancel := context.WithCancel(t.Context())
		var holding, refused atomic.Int64
		release := make(chan struct{})
		enter := func(host string) {
			go func() {
				leave, ok := p.Enter(ctx, host)
				if !ok {
					refused.Add(1)
					return
				}
				holding.Add(1)
				<-release
				holding.Add(-1)
				leave()
			}()
		}
		expect := func(what string, held, turnedAway int64) {
			t.Helper()
			synctest.Wait()
			if holding.Load() != held || refused.Load() != turnedAway {
				t.Errorf("%s: %d hold, %d were refused; want %d and %d", what, holding.Load(), refused.Load(), held, turnedAway)
			}
		}
		for range 5 {
			enter("a.example")
		}
		expect("five of one host", int64(limits.PerHost), 0)
		for i := range 20 {
			enter(fmt.Sprintf("%d.example", i))
		}
		expect("twenty others", int64(limits.All), 0)
		release <- struct{}{}
		expect("one left", int64(limits.All), 0)
		for i := range limits.Waiting + limits.All - 24 {
			enter(fmt.Sprintf("x%d.example", i))
		}
		expect("as many as may wait", int64(limits.All), 0)
		enter("late.example")
		expect("one more", int64(limits.All), 1)
		cancel()
		expect("the waiting are gone", int64(limits.All), int64(limits.Waiting)+1)
		close(release)
		expect("all are gone", 0, int64(limits.Waiting)+1)
		if p.present != 0 || len(p.hosts) != 0 || len(p.all) != 0 {
			t.Errorf("%d present, hosts %v, %d slots held", p.present, p.hosts, len(p.all))
		}
	})
}

// TestSlotsWithoutWaiting checks that, with Waiting 0, a request is refused at once if all
// slots are taken.
func TestSlotsWithoutWaiting(t *testing.T) {
	t.Parallel()
	s := NewSlots(SlotLimits{All: 2, PerHost: 2})
	leave, ok := s.Enter(t.Context(), "a.example")
	_, second := s.Enter(t.Context(), "a.example")
	if _, third := s.Enter(t.Context(), "b.example"); !ok || !second || third {
		t.Errorf("%t, %t, %t; want two of two to enter", ok, second, third)
	}
	leave()
	if _, ok := s.Enter(t.Context(), "b.example"); !ok {
		t.Error("a slot that was released cannot be taken")
	}
}
