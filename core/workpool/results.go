package workpool

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// storeTime bounds the calls of the database that store results. The end of the process does
	// not interrupt them.
	storeTime = 5 * time.Second
	// retryEvery is the interval of the attempts of End.
	retryEvery = 100 * time.Millisecond
	// maxKept is the maximum number of results that are kept. Items of further ones wait for the
	// end of their lease.
	maxKept = 10_000
)

// Results stores the results with which claims of items end, such as that an item is due again.
// It keeps those that an outage of the database interrupted, and stores them at the next look.
// Without it, a restart of the database of a second would cost the items a whole lease, although
// their process runs.
//
// A result may be stored twice, and after another process has claimed the item, because the
// answer of the database may be lost. So the statement must compare the token of the claim, and
// change nothing after the first time. A Results is safe for concurrent use.
type Results[R any] struct {
	store func(ctx context.Context, result R) error
	clock core.Clock

	mu   sync.Mutex
	kept []keptResult[R]
}

type keptResult[R any] struct {
	result R
	until  time.Time
}

// NewResults returns a Results that stores results by calls of store.
func NewResults[R any](clock core.Clock, store func(ctx context.Context, result R) error) *Results[R] {
	return &Results[R]{store: store, clock: clock}
}

// Store stores the result of an item whose lease ends at until, also if ctx has ended. After an
// outage of the database it returns the error, and keeps the result until then. The result must
// not have much memory that it does not need.
func (r *Results[R]) Store(ctx context.Context, result R, until time.Time) error {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	err := r.store(lasting, result)
	if !core.IsOutage(err) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) < maxKept {
		r.kept = append(r.kept, keptResult[R]{result, until})
	}
	return err
}

// Retry stores the results that are kept, until the database refuses one. It can be the Before of
// a pool: its error is always nil, because Find fails if the database is still away.
func (r *Results[R]) Retry(ctx context.Context) error {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	r.storeKept(lasting)
	return nil
}

// End stores the results that are kept when the process ends. It waits five seconds for the
// database. Call it after the pool has ended.
func (r *Results[R]) End(ctx context.Context) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for !r.storeKept(lasting) {
		select {
		case <-lasting.Done():
			return
		case <-again.C:
		}
	}
}

// storeKept stores the results that are kept, and reports whether none is left. It drops those
// whose lease has ended: other processes may claim their items.
func (r *Results[R]) storeKept(ctx context.Context) bool {
	for {
		first, some := r.first()
		if !some {
			return true
		}
		if err := r.store(ctx, first.result); core.IsOutage(err) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.kept = append(r.kept, first)
			return false
		}
	}
}

// first removes the first result whose lease has not ended.
func (r *Results[R]) first() (keptResult[R], bool) {
	now := r.clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.kept) > 0 {
		first := r.kept[0]
		if r.kept = r.kept[1:]; first.until.After(now) {
			return first, true
		}
	}
	r.kept = nil
	return keptResult[R]{}, false
}
