package account

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// overviewLife is the maximum age of a cached answer.
	overviewLife = 60 * time.Second
	// maxOverviews is the maximum number of cached answers.
	maxOverviews = 1000
)

// overviews caches answers about accounts. Concurrent callers share one request to the
// account. They also share its failure, which is not cached.
type overviews struct {
	mu    sync.Mutex
	byOrg map[string]*answer
}

// answer is a cached answer; its other fields may be read once done is closed.
type answer struct {
	done     chan struct{}
	overview sending.Overview
	err      error
	until    time.Time
}

type ask func(ctx context.Context, orgID string) (sending.Overview, error)

func (o *overviews) get(ctx context.Context, orgID string, clock core.Clock, account ask) (sending.Overview, error) {
	a, asks := o.find(orgID, clock())
	if asks {
		// The request outlives the first caller, because others may wait for its answer.
		// The port ends it at its own deadline.
		go o.fill(context.WithoutCancel(ctx), orgID, a, clock, account)
	}
	select {
	case <-a.done:
		return a.overview, a.err
	case <-ctx.Done():
		return sending.Overview{}, context.Cause(ctx)
	}
}

// find returns the cached or pending answer, and whether the caller must make the
// request.
func (o *overviews) find(orgID string, now time.Time) (*answer, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a := o.byOrg[orgID]; a != nil && !a.isExpired(now) {
		return a, false
	}
	o.makeRoom(now)
	a := &answer{done: make(chan struct{})}
	o.byOrg[orgID] = a
	return a, true
}

// isExpired reports whether a finished answer has expired.
func (a *answer) isExpired(now time.Time) bool {
	select {
	case <-a.done:
		return !now.Before(a.until)
	default:
		return false
	}
}

// makeRoom removes expired answers, and others if that is not enough. Callers that wait
// for a removed answer still get it.
func (o *overviews) makeRoom(now time.Time) {
	if len(o.byOrg) < maxOverviews {
		return
	}
	for org, a := range o.byOrg {
		if a.isExpired(now) {
			delete(o.byOrg, org)
		}
	}
	for org := range o.byOrg {
		if len(o.byOrg) < maxOverviews {
			return
		}
		delete(o.byOrg, org)
	}
}

func (o *overviews) fill(ctx context.Context, orgID string, a *answer, clock core.Clock, account ask) {
	overview, err := account(ctx, orgID)
	o.mu.Lock()
	defer o.mu.Unlock()
	a.overview, a.err, a.until = overview, err, clock().Add(overviewLife)
	if err != nil && o.byOrg[orgID] == a {
		delete(o.byOrg, orgID)
	}
	close(a.done)
}

// forget discards the organization's answer, so that the next caller makes a request.
func (o *overviews) forget(orgID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byOrg, orgID)
}
