package clientdocument

import (
	"context"
	"sync"
)

// How many fetches there are at a time, so that nobody can turn this server
// against another.
const (
	maxFetches     = 16
	maxHostFetches = 2
	// maxWaiting bounds those that wait for a place, too.
	maxWaiting = 256
)

// places are what a fetch has to hold while it runs.
type places struct {
	all chan struct{}

	mu      sync.Mutex
	present int
	hosts   map[string]*hostPlaces
}

// hostPlaces live as long as somebody holds or waits for one of them.
type hostPlaces struct {
	held    chan struct{}
	present int
}

func newPlaces() *places {
	return &places{all: make(chan struct{}, maxFetches), hosts: map[string]*hostPlaces{}}
}

// enter waits for a place until ctx ends, and returns how to leave it again. It
// waits for the host's first: who waits for a slow host keeps nobody out.
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
