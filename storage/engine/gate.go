package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// callerWait is how long a call waits for a connection before it fails with
	// CodeOverloaded.
	callerWait = 2 * time.Second
	// busyRetry is the RetryAfter of the error for a call that got no connection.
	busyRetry = 2 * time.Second
	// passedOver is how many free connections in a row may go to lanes of higher rank while
	// a call of a lower rank waits. The next free connection goes to the lowest rank with a
	// waiting call; see ranks.
	passedOver = 8
)

// gate limits how many calls use the connections of a pool at the same time. Each lane (see
// [core.Lane]) takes connections from one share. Lanes with separate shares never wait for
// one another. In a share of several lanes, waiting calls are served in the order of ranks,
// token checks first and jobs last. After eight calls in this order, the next connection
// goes to the last rank that waits.
//
// The gate is needed because database/sql lets callers wait for a connection without limit.
type gate struct {
	wait time.Duration

	mu     sync.Mutex
	shares [core.Lanes]*share
	// waits, waited and refused count since the start: calls that had to wait, the time that
	// they waited, and calls that got no connection in time.
	waits, refused int
	waited         time.Duration
}

// share counts the free connections of one or more lanes (see [core.Lane]). It has a queue
// for each lane, with the calls that wait for a free connection.
type share struct {
	free    int
	waiting [core.Lanes][]*waiter
	// passed counts the calls in a row that got a connection before the waiting calls of the
	// lowest rank.
	passed int
}

// waiter is a call that waits in a queue. ready is closed when the call gets a connection.
type waiter struct{ ready chan struct{} }

// ranks lists the lanes (see [core.Lane]) in the order in which they are served if they
// have a common share of connections.
var ranks = [core.Lanes]core.Lane{core.Vital, core.Calls, core.ExpensiveReads, core.Background}

// newGate returns a gate with one share of the given size for each lane in sizes. A lane
// that is not in sizes uses the share of core.Calls. If wait is zero, callerWait is used.
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

// waiting returns how many calls wait for a connection now.
func (g *gate) waiting() int {
	n := 0
	counted := map[*share]bool{}
	for _, s := range g.shares {
		if counted[s] {
			continue
		}
		counted[s] = true
		for _, queue := range s.waiting {
			n += len(queue)
		}
	}
	return n
}

// pass is a call's permission to use one connection. The method leave ends the permission.
type pass struct {
	gate *gate
	from *share
}

// enter waits for a connection and returns a pass (permission to use it). Jobs wait until
// ctx ends; others fail with core.CodeOverloaded after g.wait. A nil gate returns a pass at
// once.
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
	g.waits++
	g.mu.Unlock()
	began := time.Now() //nolint:forbidigo // connections are waited for in real time
	p, err := g.await(ctx, lane, w)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waited += time.Since(began) //nolint:forbidigo // as above
	if err != nil {
		g.refused++
	}
	return p, err
}

// await waits until the call w gets a connection, ctx ends or the waiting time is over. If
// w gets the connection at the moment at which the waiting ends, await releases it.
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
	granted.leave() // the waiter w got a connection just before its removal from the queue
	return pass{}, err
}

// withdraw removes the waiter w from the queue of the lane. It returns false if w already
// has a connection.
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

// leave gives back the connection that the pass p permits to use. The next waiting call of
// the same share gets the connection. If no call waits, the connection counts as free
// again. For the zero pass, leave does nothing.
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

// next takes the waiter that is to be served next out of its queue and returns it. It
// returns nil if all queues are empty.
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
