package clientdocument

import (
	"context"
	"sync"
)

// The limits of concurrent fetches. They keep this server from being used to attack
// another.
const (
	maxFetches     = 16
	maxHostFetches = 2
	// maxWaiting is the most fetches that wait for a slot.
	maxWaiting = 256
)

// places are the slots for fetches: a number for all hosts, and a number for each host.
type places struct {
	all chan struct{}

	mu      sync.Mutex
	present int
	hosts   map[string]*hostPlaces
}

// hostPlaces has the slots of one host. It is removed when no fetch holds or waits for
// a slot.
type hostPlaces struct {
	held    chan struct{}
	present int
}

func newPlaces() *places {
	return &places{all: make(chan struct{}, maxFetches), hosts: map[string]*hostPlaces{}}
}

// enter waits for a slot until ctx ends, and returns the function that releases it. It
// takes the per-host slot first, so that one slow host cannot use up the global slots.
func (p *places) enter(ctx context.Context, host string) (func(), bool) {
	h, ok := p.arrive(host)
	if !ok {
		return nil, false
	}
	select {
	case h.held <- struct{}{}:
	case <-ctx.Done():
		p.depart(host)
		return nil, false
	}
	select {
	case p.all <- struct{}{}:
	case <-ctx.Done():
		<-h.held
		p.depart(host)
		return nil, false
	}
	return func() {
		<-p.all
		<-h.held
		p.depart(host)
	}, true
}

func (p *places) arrive(host string) (*hostPlaces, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.present >= maxFetches+maxWaiting {
		return nil, false
	}
	h := p.hosts[host]
	if h == nil {
		h = &hostPlaces{held: make(chan struct{}, maxHostFetches)}
		p.hosts[host] = h
	}
	p.present++
	h.present++
	return h, true
}

func (p *places) depart(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.present--
	if h := p.hosts[host]; h.present > 1 {
		h.present--
	} else {
		delete(p.hosts, host)
	}
}
