package account

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// overviewLife is how stale an answer about the account may be.
	overviewLife = 60 * time.Second
	// maxOverviews is how many answers are remembered at most.
	maxOverviews = 1000
)

// overviews remembers answers about accounts, and lets concurrent callers
// wait for one answer. Waiting callers get its failure, which is then
// forgotten.
type overviews struct {
	mu    sync.Mutex
	byOrg map[string]*answer
}

// answer is there when done is closed.
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
		// The first caller may leave before the others have their answer. The port
		// ends the call at its own deadline.
		go o.fill(context.WithoutCancel(ctx), orgID, a, clock, account)
	}
	select {
	case <-a.done:
		return a.overview, a.err
	case <-ctx.Done():
		return sending.Overview{}, context.Cause(ctx)
	}
}

// find is the answer to wait for, and whether the caller is the one to ask.
func (o *overviews) find(orgID string, now time.Time) (*answer, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a := o.byOrg[orgID]; a != nil && !a.over(now) {
		return a, false
	}
	o.makeRoom(now)
	a := &answer{done: make(chan struct{})}
	o.byOrg[orgID] = a
	return a, true
}

// over reports whether an answer that has come is too old.
func (a *answer) over(now time.Time) bool {
	select {
	case <-a.done:
		return !now.Before(a.until)
	default:
		return false
	}
}

// makeRoom forgets what is over, and any others when that is not enough. Those who
// wait for a forgotten answer still get it.
func (o *overviews) makeRoom(now time.Time) {
	if len(o.byOrg) < maxOverviews {
		return
	}
	for org, a := range o.byOrg {
		if a.over(now) {
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

// forget makes the next question be asked.
func (o *overviews) forget(orgID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byOrg, orgID)
}
