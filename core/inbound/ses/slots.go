package ses

import (
	"context"
	"sync"
)

// slots limits how many messages are accepted at the same time.
type slots struct {
	all chan struct{}
	mu  *sync.Mutex
	// orgs has the slots of the organizations with messages that hold a slot or wait for one.
	orgs map[string]*orgSlots
}

type orgSlots struct {
	held    chan struct{}
	present int
}

func newSlots() slots {
	return slots{all: make(chan struct{}, running), mu: &sync.Mutex{}, orgs: map[string]*orgSlots{}}
}

// enter waits for a slot and returns the function that frees it. The slot of the organization
// comes first, so that a slow bucket does not hold back other organizations. It fails with the
// error of ctx if ctx ends first.
func (s slots) enter(ctx context.Context, orgID string) (func(), error) {
	own := s.arrive(orgID)
	if err := take(ctx, own.held); err != nil {
		s.depart(orgID)
		return nil, err
	}
	if err := take(ctx, s.all); err != nil {
		<-own.held
		s.depart(orgID)
		return nil, err
	}
	return func() {
		<-s.all
		<-own.held
		s.depart(orgID)
	}, nil
}

func take(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) arrive(orgID string) *orgSlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.orgs[orgID]
	if own == nil {
		own = &orgSlots{held: make(chan struct{}, runningOfOrg)}
		s.orgs[orgID] = own
	}
	own.present++
	return own
}

func (s slots) depart(orgID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.orgs[orgID]
	if own.present--; own.present == 0 {
		delete(s.orgs, orgID)
	}
}
