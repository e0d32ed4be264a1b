package outbound

import (
	"context"
	"sync"
)

// SlotLimits are the limits of concurrent outgoing requests. They prevent outsiders from
// using this server to flood another host with requests.
type SlotLimits struct {
	All     int // slots for all hosts
	PerHost int // maximum of concurrent requests to one host; not more than All, the maximum for all hosts
	Waiting int // maximum of requests that wait for a slot
}

// Slots limits the number of concurrent requests, in total and for each host. A host may be
// any text that requests share, such as the organization whose bucket they read. It is safe for
// use by several goroutines.
type Slots struct {
	limits SlotLimits
	all    chan struct{}

	mu      sync.Mutex
	present int // number of requests that hold a slot or wait for one
	hosts   map[string]*hostSlots
}

// hostSlots has the slots of one host. It is removed when no request holds a slot of the
// host or waits for one.
type hostSlots struct {
	held    chan struct{}
	present int
}

// NewSlots returns a Slots with these limits. All slots are free.
func NewSlots(limits SlotLimits) *Slots {
	return &Slots{limits: limits, all: make(chan struct{}, limits.All), hosts: map[string]*hostSlots{}}
}

// Enter waits until a request to the host may start, and returns the function that releases
// its slot. It returns false if ctx ends first or if too many requests wait already. It
// takes the slot of the host first, so that one slow host cannot use up the slots of all
// hosts.
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
