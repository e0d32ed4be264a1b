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
	// maxBatch is the target number of events in one transaction. The events of one caller
	// are never split, so a transaction may store more.
	maxBatch = 500
	// maxWaiting is the maximum number of events that wait in memory to be stored.
	maxWaiting = 20_000
	// maxWaitingOfOne is the maximum number of waiting events of one organization, so that
	// one organization cannot use up maxWaiting.
	maxWaitingOfOne = maxWaiting / 4
	// batchTime is the time limit for storing one batch, including retries after a failure.
	batchTime = 20 * time.Second
)

// Batch stores the events of concurrent callers in shared transactions. Providers send each
// event in a request of its own, and one commit costs more than a hundred inserted events.
// The first caller's events are stored at once. The events of callers that arrive during a
// transaction are stored together in the next transaction.
type Batch struct {
	messages *Messages
	mu       sync.Mutex
	waiting  []*delivery
	events   map[string]int // number of waiting events by organization id
	all      int            // the sum of events
	draining bool
}

// delivery is one call of [Batch.Record]: its events and, once they are stored, its result.
type delivery struct {
	orgID    string
	events   []Event
	recorded Recorded
	err      error
	done     chan struct{} // closed when the fields recorded and err are set
}

// NewBatch returns a Batch that lets m store the events of several callers in one
// transaction.
func NewBatch(m *Messages) *Batch { return &Batch{messages: m, events: make(map[string]int)} }

// Record stores events as [Messages.Record] does, and returns when they are committed. If
// ctx ends first, it returns the error of ctx, and the events may or may not be committed
// later. ctx must not have a transaction. It fails with core.CodeDedupUnavailable if too
// many events wait, in the organization or in total.
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
		// A transaction stores the events of several callers, so it must continue when the
		// context of one caller is cancelled.
		go b.drain(context.WithoutCancel(ctx))
	}
	return true
}

// drain combines the events of waiting calls of Record into a batch and stores the batch.
// It repeats this until no call waits.
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

// settle stores a batch and then lets the waiting calls of Record return their results.
func (b *Batch) settle(ctx context.Context, batch []*delivery) {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	b.try(ctx, batch)
	for _, d := range batch {
		close(d.done)
	}
}

// try stores the events of a batch in one transaction. If that fails, it tries each half of
// the batch separately. So an invalid event causes an error only for the caller that sent
// it.
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

// recordTogether stores the events of a batch in one transaction. It turns a panic of a
// [Recorder] into an error, so that one event cannot end the process.
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

// count returns how many events of the delivery d are new and how many are duplicates.
// fresh has the organization and id of each new event of the batch. count removes the
// events of d from fresh. If two callers sent the same event, it is therefore new for the
// first caller and a duplicate for the second.
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
