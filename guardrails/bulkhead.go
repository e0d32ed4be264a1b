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
	// expensiveSlots is the default of [Config.ExpensiveSlots], the number of expensive
	// reads that run at the same time.
	expensiveSlots = 4
	// expensivePerOrg is the maximum number of expensive reads of one organization that run
	// at the same time.
	expensivePerOrg = 2
	// waitingPerOrg and waitingInAll are the maximum numbers of waiting expensive reads: of
	// one organization, and of all organizations together.
	waitingPerOrg, waitingInAll = 16, 128
	// expensiveWait is the longest time for which an expensive read waits to start. It is
	// longer than expensiveTime, so every read that runs when the wait begins ends before
	// the wait does.
	expensiveWait = 15 * time.Second
	// expensiveTime is the longest time for which an expensive read may run, without the
	// time in the queue.
	expensiveTime = 12 * time.Second
	// expensiveRetry is the Retry-After of an expensive read that was refused because too
	// many other reads wait, or because it waited too long.
	expensiveRetry = 5 * time.Second
	// largeSlots is the number of large calls of this process that run at the same time; see
	// [Catalogue.EnterLarge]. One needs up to about 200 MB.
	largeSlots = 4
	// largeWait is the longest time for which a large call waits to start.
	largeWait = 5 * time.Second
)

// bulkhead limits the number of expensive reads that run at the same time, so that one
// organization cannot delay the others. It runs after the step prepare, which may use the
// network, so that a read does not occupy a slot during that time. A replica of the database may
// answer an expensive read: only reads are expensive, so no write depends on them.
func bulkhead(ctx context.Context, p *passage) error {
	if p.op.CostOf(p.call, p.in) != core.Heavy {
		return p.next(ctx)
	}
	ctx, p.replica = core.WithReplica(ctx)
	return p.guard.RunExpensive(ctx, p.call.Principal.Org.ID, p.next)
}

// RunExpensive runs f, an expensive read of an organization, on the database connections
// for such reads. It fails with core.CodeOverloaded if too many reads wait or the wait
// takes too long, and with core.CodeValidationFailed if f takes longer than 12 s.
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
			WithNext("Use a shorter window or fewer conditions.")
	}
	return err
}

// EnterLarge waits for a slot for a large call of an organization: one whose request or answer may have
// many megabytes, which are in memory as long as it runs. The caller reads the request afterwards, and
// calls leave once when the answer is sent. EnterLarge fails with core.CodeOverloaded if too many calls
// wait or the wait takes too long, and with the error of ctx if ctx ends.
func (c *Catalogue) EnterLarge(ctx context.Context, orgID string) (leave func(), err error) {
	if err := c.guard.large.enter(ctx, orgID); err != nil {
		return nil, err
	}
	return func() { c.guard.large.leave(orgID) }, nil
}

// slots limits the number of calls of one kind that run at the same time; each needs one of
// the slots. Each organization has a queue of its own. A free slot goes to the
// organizations in rotation, however long their queues are.
type slots struct {
	inAll, perOrg int
	longest       time.Duration // for which a call waits

	mu      sync.Mutex
	running int
	waiting int
	orgs    map[string]*orgSlots
	// rotation has the organizations with waiting calls, in the order in which they get the
	// next free slots.
	rotation []*orgSlots
}

// orgSlots counts the running calls of one organization and queues its waiting calls. The
// queue has a channel for each waiting call. The channel is closed when the call gets a
// slot.
type orgSlots struct {
	running int
	waiting []chan struct{}
}

func newSlots(inAll int, longest time.Duration) *slots {
	// One organization can use at most expensivePerOrg slots, and at least one slot is
	// left for other organizations. If there is a single slot, every organization can use
	// it.
	return &slots{inAll: inAll, longest: longest, perOrg: max(1, min(expensivePerOrg, inAll-1)), orgs: map[string]*orgSlots{}}
}

// enter waits until the organization gets a slot. It fails with core.CodeOverloaded if the
// queue is full or the wait is too long, and with the error of ctx if ctx ends.
// After a nil error the caller must call leave.
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
	timer := time.NewTimer(s.longest)
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
		s.leave(orgID) // the call got a slot just before it was withdrawn, so release the slot
	}
	return err
}

// withdraw removes a waiting call from its queue. It returns false if the call is not
// waiting any more because it got a slot.
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

// leave releases a slot of the organization. The slot goes to the next organization in the
// rotation that may run another call.
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

// forget deletes the entry of an organization that has no running or waiting calls.
func (s *slots) forget(orgID string) {
	if org := s.orgs[orgID]; org != nil && org.running == 0 && len(org.waiting) == 0 {
		delete(s.orgs, orgID)
	}
}

// register registers two gauges with a name: the number of running and of waiting calls.
func (s *slots) register(r prometheus.Registerer, name, what string) {
	for state, n := range map[string]*int{"running": &s.running, "waiting": &s.waiting} {
		opts := prometheus.GaugeOpts{
			Name: name, Help: what + " by state: running in a slot, waiting for one.",
			ConstLabels: prometheus.Labels{"state": state},
		}
		r.MustRegister(prometheus.NewGaugeFunc(opts, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(*n)
		}))
	}
}
