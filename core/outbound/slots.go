package outbound

import (
	"context"
	"sync"
)

// SlotLimits bound concurrent requests. They keep this server from being used to attack
// another.
type SlotLimits struct {
	All     int // slots for all hosts
	PerHost int // slots for each host; at most All
	Waiting int // requests that may wait for a slot
}

// Slots limits the requests that run at a time. It is safe for use by several goroutines.
type Slots struct {
	limits SlotLimits
	all    chan struct{}

	mu      sync.Mutex
	present int // requests that hold a slot or wait for one
	hosts   map[string]*hostSlots
}

// hostSlots has the slots of one host. It is removed when no request holds or waits for
// a slot.
type hostSlots struct {
	held    chan struct{}
	present int
}

// NewSlots returns slots that are all free.
func NewSlots(limits SlotLimits) *Slots {
	return &Slots{limits: limits, all: make(chan struct{}, limits.All), hosts: map[string]*hostSlots{}}
}

// Enter waits for a slot until ctx ends, and returns the function that releases it. It
// returns false when ctx ends first or too many requests wait already. It takes the
// per-host slot first, so that one slow host cannot use up the global slots.
func (s *Slots) Enter(ctx context.Context, host string) (func(), bool) {
	h, ok := s.arrive(host)
	if !ok {
		return nil, false
	}
	select {
	case h.held <- struct{}{}:
	case <-ctx.Done():
		s.depart(host)
		return nil, false
	}
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		<-h.held
		s.depart(host)
		return nil, false
	}
	return func() {
		<-s.all
		<-h.held
		s.depart(host)
	}, true
}

func (s *Slots) arrive(host string) (*hostSlots, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.present >= s.limits.All+s.limits.Waiting {
		return nil, false
	}
	h := s.hosts[host]
	if h == nil {
		h = &hostSlots{held: make(chan struct{}, s.limits.PerHost)}
		s.hosts[host] = h
	}
	s.present++
	h.present++
	return h, true
}

func (s *Slots) depart(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present--
	if h := s.hosts[host]; h.present > 1 {
		h.present--
	} else {
		delete(s.hosts, host)
	}
}
