package smtp

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	maxOpen = 4   // maximum number of open connections of an organization; further messages wait
	maxUses = 100 // maximum number of messages on one connection before it is closed
)

// pool limits the open connections of one organization to its SMTP server. idle has the
// connections that are not in use.
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

// enter waits until the organization may use another connection. If it succeeds, the caller
// must call leave afterwards. It fails with the error of ctx if ctx ends first.
func (p *pool) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pool) leave() { <-p.slots }

// take removes and returns an idle connection with this login, or nil if there is none. It
// closes idle connections with another login.
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

// put makes the connection idle, so that a later message can use it. It closes the
// connection if the pool is closed or the connection has sent maxUses messages.
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

// expire closes the connection if it is idle. It does nothing if a message uses the
// connection again.
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
