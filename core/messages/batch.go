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
	// maxBatch is about how many events one transaction stores; the events of one caller
	// stay together.
	maxBatch = 500
	// maxWaiting bounds the memory of events that wait for the database.
	maxWaiting = 20_000
	// maxWaitingOfOne bounds the waiting events of one organization, so that its flood does
	// not turn away events of others.
	maxWaitingOfOne = maxWaiting / 4
	// batchTime bounds one batch with all retries after its failure.
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

// NewBatch makes a Batch.
func NewBatch(m *Messages) *Batch { return &Batch{messages: m, events: make(map[string]int)} }

// Record does what [Messages.Record] does and returns when the events are committed. When
// ctx ends it returns early, and the events may or may not be committed later. ctx must
// carry no transaction. It fails with core.CodeDedupUnavailable when too many events wait,
// of the organization or in all.
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
		// The caller's leaving must not fail the events of other callers.
		go b.drain(context.WithoutCancel(ctx))
	}
	return true
}

// drain records batches until no delivery waits.
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

// settle records a batch and answers its callers.
func (b *Batch) settle(ctx context.Context, batch []*delivery) {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	b.try(ctx, batch)
	for _, d := range batch {
		close(d.done)
	}
}

// try records deliveries together. After a failure it records each half by itself, so that
// an event that cannot be stored fails its own caller only.
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

// recordTogether turns a panic into an error: an event that a recorder cannot handle must
// not end the process.
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

// count removes the caller's events from the new ones. When two callers bring the same
// event, it is new for the first and a duplicate for the second.
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
