package usage

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// FlushEvery is the time between two additions to the store.
const FlushEvery = 5 * time.Second

const (
	// maxPending is the maximum number of rows in memory. While the store is unavailable,
	// calls that need another row are not counted.
	maxPending = 10_000
	// batch is the maximum number of rows in one transaction, so that it does not delay other
	// writes for long.
	batch = 500
	// stopTimeout is the time limit of the last addition, when the process ends.
	stopTimeout = 5 * time.Second
)

// key identifies a row.
type key struct {
	orgID, clientID, userID, operation string
	day                                int64 // days since 1970
}

// Counter counts calls in memory and adds them to the store. It is safe for use by several
// goroutines.
type Counter struct {
	store Store
	log   *slog.Logger

	mu      sync.Mutex
	pending map[key]*Counts
	dropped int // calls that were not counted since the last flush
}

// NewCounter returns a counter without counts.
func NewCounter(store Store, log *slog.Logger) *Counter {
	return &Counter{store: store, log: log, pending: map[key]*Counts{}}
}

const secondsOfDay = 24 * 60 * 60

// Count counts a call. It does not wait for the store.
func (c *Counter) Count(call Call) {
	k := key{call.OrgID, call.ClientID, call.UserID, call.Operation, call.At.Unix() / secondsOfDay}
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.pending[k]
	if counts == nil {
		if len(c.pending) >= maxPending {
			c.dropped++
			return
		}
		counts = &Counts{}
		c.pending[k] = counts
	}
	counts.add(call.Outcome, call.At)
}

// Follow adds the counts to the store at each tick, and a last time when ctx ends. It logs
// errors; the counts are then added at a later tick.
func (c *Counter) Follow(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ticks:
			c.flushAndLog(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
			defer cancel()
			c.flushAndLog(last)
			return
		}
	}
}

func (c *Counter) flushAndLog(ctx context.Context) {
	if err := c.Flush(ctx); err != nil && ctx.Err() == nil {
		c.log.WarnContext(ctx, "counts of calls not stored yet", "cause", err)
	}
}

// Flush adds the counts to the store. If that fails, it keeps those that were not added.
func (c *Counter) Flush(ctx context.Context) error {
	rows, dropped := c.take()
	if dropped > 0 {
		c.log.WarnContext(ctx, "calls not counted, because the database was unavailable", "calls", dropped)
	}
	for part := range slices.Chunk(rows, batch) {
		if err := c.store.AddUsage(ctx, part); err != nil {
			c.giveBack(rows)
			return err
		}
		rows = rows[len(part):]
	}
	return nil
}

// take returns the pending rows in the order of [Store.AddUsage], and the number of calls
// that were not counted. Nothing is pending then.
func (c *Counter) take() ([]Row, int) {
	c.mu.Lock()
	pending, dropped := c.pending, c.dropped
	c.pending, c.dropped = map[key]*Counts{}, 0
	c.mu.Unlock()
	rows := make([]Row, 0, len(pending))
	for k, counts := range pending {
		rows = append(rows, Row{k.orgID, k.clientID, k.userID, k.operation, time.Unix(k.day*secondsOfDay, 0).UTC(), *counts})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.OrgID, b.OrgID), cmp.Compare(a.ClientID, b.ClientID), cmp.Compare(a.UserID, b.UserID),
			cmp.Compare(a.Operation, b.Operation), a.Day.Compare(b.Day))
	})
	return rows, dropped
}

// giveBack makes rows pending again.
func (c *Counter) giveBack(rows []Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rows {
		k := key{r.OrgID, r.ClientID, r.UserID, r.Operation, r.Day.Unix() / secondsOfDay}
		if c.pending[k] == nil {
			c.pending[k] = &Counts{}
		}
		c.pending[k].merge(r.Counts)
	}
}
