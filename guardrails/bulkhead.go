package guardrails

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// expensiveSlots is the number of expensive reads that run at once, unless Config sets
	// another.
	expensiveSlots = 4
	// expensivePerOrg is the number of expensive reads that one organization may run at
	// once.
	expensivePerOrg = 2
	// waitingPerOrg and waitingInAll are the longest queues, in calls: of one organization
	// and of all.
	waitingPerOrg, waitingInAll = 16, 128
	// expensiveWait is the longest wait for a slot. It exceeds expensiveTime, so that a call
	// outlives the call before it.
	expensiveWait = 15 * time.Second
	// expensiveTime is the longest time for which a call may hold a slot. Time in the queue
	// does not count.
	expensiveTime = 12 * time.Second
	// expensiveRetry is the Retry-After of a call that got no slot.
	expensiveRetry = 5 * time.Second
)

// bulkhead makes expensive reads wait for one of few slots, so that one organization cannot
// delay the others. It runs behind prepare: a call that waits for the network holds no slot.
func bulkhead(ctx context.Context, p *passage) error {
	if p.op.CostOf(p.call, p.in) != core.Heavy {
		return p.next(ctx)
	}
	return p.guard.RunExpensive(ctx, p.call.Principal.Org.ID, p.next)
}

// RunExpensive runs f, an expensive read of an organization, in a slot, on the connections for
// such reads and for at most 12 s. It fails with core.CodeOverloaded when the queue is full
// or no slot becomes free in time.
func (g *Guard) RunExpensive(ctx context.Context, orgID string, f func(context.Context) error) error {
	if err := g.expensive.enter(ctx, orgID); err != nil {
		return err
	}
	defer g.expensive.leave(orgID)
	bounded, cancel := context.WithTimeout(core.WithLane(ctx, core.ExpensiveReads), expensiveTime)
	defer cancel()
	err := f(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return core.Invalid("", "takes longer to answer than "+expensiveTime.String()).
			WithNext("Ask for less at once: a shorter window, or fewer conditions.")
	}
	return err
}

// slots limits the expensive reads that run at once. Each organization has its own queue. A
// free slot goes to the queues in rotation, whatever their lengths.
type slots struct {
	inAll, perOrg int

	mu      sync.Mutex
	running int
	waiting int
	orgs    map[string]*orgSlots
	// rotation has the organizations with waiting calls. The first one gets the next free slot.
	rotation []*orgSlots
}

// orgSlots are the calls of one organization. A channel in waiting is closed when its call
// gets a slot.
type orgSlots struct {
	running int
	waiting []chan struct{}
}

func newSlots(inAll int) *slots {
	if inAll == 0 {
		inAll = expensiveSlots
	}
	// With several slots, one is reserved for other organizations.
	return &slots{inAll: inAll, perOrg: max(1, min(expensivePerOrg, inAll-1)), orgs: map[string]*orgSlots{}}
}

// enter waits for a slot. It fails with core.CodeOverloaded when the queue is full or the
// wait is over, and with the error of ctx when it ends. The caller must call leave after an
// enter without an error.
func (s *slots) enter(ctx context.Context, orgID string) error {
	s.mu.Lock()
	org := s.orgs[orgID]
	if org == nil {
		org = &orgSlots{}
		s.orgs[orgID] = org
	}
	if s.running < s.inAll && org.running < s.perOrg {
		s.running++
		org.running++
		s.mu.Unlock()
		return nil
	}
	if len(org.waiting) >= waitingPerOrg || s.waiting >= waitingInAll {
		s.forget(orgID)
		s.mu.Unlock()
		return core.Overloaded(expensiveRetry)
	}
	ready := make(chan struct{})
	if org.waiting = append(org.waiting, ready); len(org.waiting) == 1 {
		s.rotation = append(s.rotation, org)
	}
	s.waiting++
	s.mu.Unlock()
	return s.await(ctx, orgID, ready)
}

func (s *slots) await(ctx context.Context, orgID string, ready chan struct{}) error {
	timer := time.NewTimer(expensiveWait)
	defer timer.Stop()
	var err error
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = core.Overloaded(expensiveRetry)
	}
	if !s.withdraw(orgID, ready) {
		s.leave(orgID) // its turn came at the same moment
	}
	return err
}

// withdraw removes a waiting call from its queue. It returns false when the call already has
// a slot.
func (s *slots) withdraw(orgID string, ready chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	org := s.orgs[orgID]
	at := slices.Index(org.waiting, ready)
	if at < 0 {
		return false
	}
	org.waiting = slices.Delete(org.waiting, at, at+1)
	s.waiting--
	if len(org.waiting) == 0 {
		s.rotation = slices.DeleteFunc(s.rotation, func(o *orgSlots) bool { return o == org })
	}
	s.forget(orgID)
	return true
}

// leave releases the slot of a call and gives it to the next organization in rotation.
func (s *slots) leave(orgID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.orgs[orgID].running--
	at := slices.IndexFunc(s.rotation, func(o *orgSlots) bool { return o.running < s.perOrg })
	if at >= 0 {
		next := s.rotation[at]
		s.rotation = slices.Delete(s.rotation, at, at+1)
		close(next.waiting[0])
		if next.waiting = next.waiting[1:]; len(next.waiting) > 0 {
			s.rotation = append(s.rotation, next)
		}
		s.waiting--
		s.running++
		next.running++
	}
	s.forget(orgID)
}

// forget deletes the entry of an organization without calls.
func (s *slots) forget(orgID string) {
	if org := s.orgs[orgID]; org != nil && org.running == 0 && len(org.waiting) == 0 {
		delete(s.orgs, orgID)
	}
}

// register exports gauges for the numbers of running and of waiting calls.
func (s *slots) register(r prometheus.Registerer) {
	for state, n := range map[string]*int{"running": &s.running, "waiting": &s.waiting} {
		opts := prometheus.GaugeOpts{
			Name: "mailhelm_expensive_reads", Help: "Expensive reads by state: running in a slot, waiting for one.",
			ConstLabels: prometheus.Labels{"state": state},
		}
		r.MustRegister(prometheus.NewGaugeFunc(opts, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(*n)
		}))
	}
}
