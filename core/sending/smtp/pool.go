package smtp

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	maxOpen = 4   // connections of an organization at a time; the next message waits
	maxUses = 100 // messages before a connection is replaced
)

// pool keeps the connections of one organization.
type pool struct {
	idleTimeout time.Duration
	slots       chan struct{}

	mu     sync.Mutex
	closed bool
	idle   []*session
}

func newPool(idleTimeout time.Duration) *pool {
	return &pool{idleTimeout: idleTimeout, slots: make(chan struct{}, maxOpen)}
}

// enter waits for a free slot. The caller must call leave afterwards.
func (p *pool) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pool) leave() { <-p.slots }

// take returns an idle connection with this login, or nil without one. It closes idle
// connections with another login.
func (p *pool) take(to login) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		last := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		last.expiry.Stop()
		if last.login == to {
			return last
		}
		last.close()
	}
	return nil
}

// put returns a connection to the pool, or closes it.
func (p *pool) put(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || s.uses >= maxUses {
		s.close()
		return
	}
	s.expiry = time.AfterFunc(p.idleTimeout, func() { p.expire(s) })
	p.idle = append(p.idle, s)
}

// expire closes a connection that is still idle. It leaves a connection alone that is
// in use again.
func (p *pool) expire(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, s); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		s.close()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.idle {
		s.expiry.Stop()
		s.close()
	}
	p.idle = nil
}
