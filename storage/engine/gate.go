package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// callerWait is how long a call waits for a connection before it is turned away.
	callerWait = 2 * time.Second
	// busyRetry is when a call that was turned away should come again.
	busyRetry = 2 * time.Second
	// passedOver is how many others a lane of lower rank lets by before it has its turn.
	passedOver = 8
)

// gate bounds how many pieces of work use the connections of a pool at once. Each lane
// draws on a share; lanes with a share of their own never wait for one another. In a
// share that several draw on, tokens come first and jobs last, but for every ninth turn.
//
// The gate stands before the pool because database/sql lets callers wait without end
// and in no order.
type gate struct {
	wait time.Duration

	mu     sync.Mutex
	shares [core.Lanes]*share
}

// share is a number of connections with those who wait for one.
type share struct {
	free    int
	waiting [core.Lanes][]*waiter
	// passed counts turns in which someone of a lower rank was left waiting.
	passed int
}

// waiter is one piece of work that waits. ready is closed when it has its turn.
type waiter struct{ ready chan struct{} }

// ranks are the lanes in the order in which a share serves them.
var ranks = [core.Lanes]core.Lane{core.Vital, core.Calls, core.ExpensiveReads, core.Background}

// newGate makes a gate with a share of each size for the lanes that it is listed with.
// A lane that is not listed draws on that of Calls.
func newGate(wait time.Duration, sizes map[core.Lane]int) *gate {
	if wait == 0 {
		wait = callerWait
	}
	g := &gate{wait: wait}
	calls := &share{free: sizes[core.Calls]}
	for lane := range g.shares {
		g.shares[lane] = calls
		if size, own := sizes[core.Lane(lane)]; own && core.Lane(lane) != core.Calls {
			g.shares[lane] = &share{free: size}
		}
	}
	return g
}

// pass is the permission to use one connection until leave.
type pass struct {
	gate *gate
	from *share
}

// enter waits for a connection: jobs as long as their context lasts, others two seconds.
// It fails with core.CodeOverloaded after that. The zero gate lets everything in.
func (g *gate) enter(ctx context.Context) (pass, error) {
	if g == nil {
		return pass{}, nil
	}
	lane := core.LaneOf(ctx)
	s := g.shares[lane]
	g.mu.Lock()
	if s.free > 0 {
		s.free--
		g.mu.Unlock()
		return pass{g, s}, nil
	}
	w := &waiter{ready: make(chan struct{})}
	s.waiting[lane] = append(s.waiting[lane], w)
	g.mu.Unlock()
	return g.await(ctx, lane, w)
}

func (g *gate) await(ctx context.Context, lane core.Lane, w *waiter) (pass, error) {
	var late <-chan time.Time
	if lane != core.Background {
		timer := time.NewTimer(g.wait)
		defer timer.Stop()
		late = timer.C
	}
	granted := pass{g, g.shares[lane]}
	var err error
	select {
	case <-w.ready:
		return granted, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = core.Overloaded(busyRetry)
	}
	if g.withdraw(lane, w) {
		return pass{}, err
	}
	granted.leave() // its turn came at the same moment
	return pass{}, err
}

// withdraw takes w out of the queue. It reports false when w has its turn already.
func (g *gate) withdraw(lane core.Lane, w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	queue := &g.shares[lane].waiting[lane]
	at := slices.Index(*queue, w)
	if at < 0 {
		return false
	}
	*queue = slices.Delete(*queue, at, at+1)
	return true
}

// leave hands the connection on. The zero pass does nothing.
func (p pass) leave() {
	if p.gate == nil {
		return
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if next := p.from.next(); next != nil {
		close(next.ready)
		return
	}
	p.from.free++
}

// next takes the waiter whose turn it is out of its queue, nil when the queues are empty.
func (s *share) next() *waiter {
	var queues []*[]*waiter
	for _, lane := range ranks {
		if len(s.waiting[lane]) > 0 {
			queues = append(queues, &s.waiting[lane])
		}
	}
	if len(queues) == 0 {
		return nil
	}
	queue := queues[0]
	if s.passed++; len(queues) == 1 {
		s.passed = 0
	} else if s.passed > passedOver {
		queue, s.passed = queues[len(queues)-1], 0
	}
	w := (*queue)[0]
	*queue = (*queue)[1:]
	return w
}
