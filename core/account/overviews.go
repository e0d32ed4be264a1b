package account

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// overviewLife is how long a cached state of an account is used.
	overviewLife = 60 * time.Second
	// maxOverviews is the maximum number of organizations whose account state is cached.
	maxOverviews = 1000
)

// overviews caches the state of sending accounts by organization. Concurrent callers share
// one request to the account and its result. A failure is not cached.
type overviews struct {
	mu    sync.Mutex
	byOrg map[string]*answer
}

// answer is the cached or pending result of one request to an account. The channel done is
// closed when the request ends; before, the other fields must not be read.
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
		// The request continues if the first caller gives up, because other callers may wait
		// for its result. The called account applies its own deadline.
		go o.fill(context.WithoutCancel(ctx), orgID, a, clock, account)
	}
	select {
	case <-a.done:
		return a.overview, a.err
	case <-ctx.Done():
		return sending.Overview{}, context.Cause(ctx)
	}
}

// find returns the organization's cached or pending answer. The second result is true if
// the answer is new and the caller must make the request to the account.
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

// isExpired reports whether the cached answer is too old at the time now. A pending answer
// has not expired.
func (a *answer) isExpired(now time.Time) bool {
	select {
	case <-a.done:
		return !now.Before(a.until)
	default:
		return false
	}
}

// makeRoom removes expired answers if the cache is full, then random others if that is not
// enough. Callers that wait for a removed answer still get it.
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

// forget discards the organization's cached answer, so that the next caller makes a new
// request to the account.
func (o *overviews) forget(orgID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byOrg, orgID)
}

// forgetAll discards all cached answers.
func (o *overviews) forgetAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.byOrg)
}
