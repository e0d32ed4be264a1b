package messages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// maxBatch is the approximate number of events that one transaction stores. The events
	// of one caller stay together, so it may be exceeded.
	maxBatch = 500
	// maxWaiting is the maximum number of events that wait for the database.
	maxWaiting = 20_000
	// maxWaitingOfOne is the maximum number of waiting events of one organization, so that
	// one organization cannot use up maxWaiting.
	maxWaitingOfOne = maxWaiting / 4
	// batchTime is the longest time for one batch, including retries after a failure.
	batchTime = 20 * time.Second
)

// Batch records the events of concurrent callers in one transaction. Providers send each
// event in a request of its own, and a commit costs more than a hundred events. The first
// caller does not wait. Callers that come while a transaction runs share the next one.
type Batch struct {
	messages *Messages
	mu       sync.Mutex
	waiting  []*delivery
	events   map[string]int // by organization, of all in waiting
	all      int            // the sum of events
	draining bool
}

// delivery is one caller with its events.
type delivery struct {
	orgID    string
	events   []Event
	recorded Recorded
	err      error
	done     chan struct{} // closed when recorded and err stand
}

// NewBatch returns a Batch that stores events through m.
func NewBatch(m *Messages) *Batch { return &Batch{messages: m, events: make(map[string]int)} }

// Record stores events as [Messages.Record] does, and returns when they are committed. When
// ctx ends, it returns early, and the events may or may not be committed later. ctx must not
// have a transaction. It fails with core.CodeDedupUnavailable when too many events wait, of
// the organization or in total.
func (b *Batch) Record(ctx context.Context, orgID string, events []Event) (Recorded, error) {
	d := &delivery{orgID: orgID, events: events, done: make(chan struct{})}
	if !b.enter(ctx, d) {
		return Recorded{}, &core.Error{
			Code: core.CodeDedupUnavailable, Message: "Events come faster than they can be stored.", RetryAfter: time.Second,
		}
	}
	select {
	case <-d.done:
		return d.recorded, d.err
	case <-ctx.Done():
		return Recorded{}, context.Cause(ctx)
	}
}

func (b *Batch) enter(ctx context.Context, d *delivery) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(d.events)
	if b.all+n > maxWaiting || b.events[d.orgID]+n > maxWaitingOfOne {
		return false
	}
	b.waiting = append(b.waiting, d)
	b.events[d.orgID] += n
	b.all += n
	if !b.draining {
		b.draining = true
		// A caller that leaves must not fail the events of other callers.
		go b.drain(context.WithoutCancel(ctx))
	}
	return true
}

// drain stores batches until no delivery waits.
func (b *Batch) drain(ctx context.Context) {
	for {
		batch := b.next()
		if batch == nil {
			return
		}
		b.settle(ctx, batch)
	}
}

func (b *Batch) next() []*delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken, events := 0, 0
	for taken < len(b.waiting) && (taken == 0 || events+len(b.waiting[taken].events) <= maxBatch) {
		events += len(b.waiting[taken].events)
		taken++
	}
	batch := slices.Clone(b.waiting[:taken])
	for _, d := range batch {
		if b.events[d.orgID] -= len(d.events); b.events[d.orgID] == 0 {
			delete(b.events, d.orgID)
		}
	}
	b.waiting, b.all = slices.Delete(b.waiting, 0, taken), b.all-events
	b.draining = taken > 0
	if taken == 0 {
		return nil
	}
	return batch
}

// settle stores a batch and passes the results to its callers.
func (b *Batch) settle(ctx context.Context, batch []*delivery) {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	b.try(ctx, batch)
	for _, d := range batch {
		close(d.done)
	}
}

// try stores deliveries in one transaction. After a failure it tries each half separately,
// so that an invalid event fails only its own caller.
func (b *Batch) try(ctx context.Context, batch []*delivery) {
	err := b.recordTogether(ctx, batch)
	if err == nil {
		return
	}
	if half := len(batch) / 2; half > 0 && ctx.Err() == nil {
		b.try(ctx, batch[:half])
		b.try(ctx, batch[half:])
		return
	}
	for _, d := range batch {
		d.recorded, d.err = Recorded{}, err
	}
}

// recordTogether stores deliveries in one transaction. It turns a panic of a recorder into
// an error, so that one event cannot end the process.
func (b *Batch) recordTogether(ctx context.Context, batch []*delivery) error {
	var failed error
	func() {
		defer func() {
			if v := recover(); v != nil {
				failed = fmt.Errorf("recording events panicked: %s", core.PanicText(v))
			}
		}()
		failed = b.record(ctx, batch)
	}()
	return failed
}

func (b *Batch) record(ctx context.Context, batch []*delivery) error {
	byOrg := make(map[string][]Event)
	for _, d := range batch {
		byOrg[d.orgID] = append(byOrg[d.orgID], d.events...)
	}
	return b.messages.Transactor.InTx(ctx, func(ctx context.Context) error {
		fresh := make(map[[2]string]bool)
		for _, orgID := range slices.Sorted(maps.Keys(byOrg)) {
			stored, err := b.messages.record(ctx, orgID, byOrg[orgID])
			if err != nil {
				return err
			}
			for _, e := range stored {
				fresh[[2]string{orgID, e.ID}] = true
			}
		}
		for _, d := range batch {
			d.recorded = d.count(fresh)
		}
		return nil
	})
}

// count returns the numbers of new and duplicate events of the delivery, and removes the new
// ones from fresh. An event of two callers is new for the first and a duplicate for the
// second.
func (d *delivery) count(fresh map[[2]string]bool) Recorded {
	var r Recorded
	for _, e := range d.events {
		key := [2]string{d.orgID, e.ID}
		if !fresh[key] {
			r.Duplicates++
			continue
		}
		delete(fresh, key)
		r.New++
	}
	return r
}
