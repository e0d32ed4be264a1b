package processing

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

const (
	// maxDirect is the number of accepted messages that a process works on at the same time
	// without having claimed their tasks. Claimed tasks have places of their own, so that they
	// are not left waiting.
	maxDirect = 64
	// reserveTime is how long a client waits for a place. When messages come in faster than they
	// are processed, this slows the clients down in place of filling the queue.
	reserveTime = time.Second
)

// direct has the places for messages that this process accepted.
type direct struct {
	places  chan struct{}
	running sync.WaitGroup

	mu sync.Mutex
	// ctx is that of Follow, nil while Follow does not run.
	ctx context.Context //nolint:containedctx // of the call that the places exist for
}

func newDirect() direct { return direct{places: make(chan struct{}, maxDirect)} }

// Follow is the Follow of the pool. While it runs, Reserve returns places.
func (p *Processor) Follow(ctx context.Context, ticks <-chan time.Time) {
	ctx = core.WithLane(ctx, core.Background)
	p.direct.open(ctx)
	p.Pool.Follow(ctx, ticks)
	p.direct.close()
	p.putOffs.End(ctx)
}

// open lets Reserve return places until close.
func (d *direct) open(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx = ctx
}

// close waits until all places are free. There are no further ones.
func (d *direct) close() {
	d.mu.Lock()
	d.ctx = nil
	d.mu.Unlock()
	d.running.Wait()
}

// Reserve implements [inbound.Worker].
func (p *Processor) Reserve(ctx context.Context) inbound.Place {
	if !p.direct.wait(ctx) {
		return nil
	}
	p.direct.mu.Lock()
	defer p.direct.mu.Unlock()
	if p.direct.ctx == nil || p.direct.ctx.Err() != nil {
		<-p.direct.places
		return nil
	}
	p.direct.running.Add(1)
	return &place{p, p.direct.ctx, p.cfg.Clock().Add(leaseTime)}
}

// wait takes a place. It returns false if none is free within a second.
func (d *direct) wait(ctx context.Context) bool {
	select {
	case d.places <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(reserveTime)
	defer timer.Stop()
	select {
	case d.places <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// place is an [inbound.Place].
type place struct {
	p     *Processor
	ctx   context.Context //nolint:containedctx // that of Follow
	until time.Time
}

func (pl *place) LeasedUntil() time.Time { return pl.until }

func (pl *place) Release() {
	<-pl.p.direct.places
	pl.p.direct.running.Done()
}

func (pl *place) Begin(t inbound.Task) {
	go func() {
		defer pl.Release()
		if _, err := pl.p.do(pl.ctx, &claimed{Task: t, until: pl.until}); err != nil {
			pl.p.cfg.Log.ErrorContext(pl.ctx, "received mail could not be put off", "org_id", t.OrgID, "message_id", t.Envelope.ID, "error", err)
		}
	}()
}
