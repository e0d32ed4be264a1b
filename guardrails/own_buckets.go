package guardrails

import (
	"context"
	"sync"

	"github.com/mailhelm/mailhelm/core"
)

// ownBuckets keeps the buckets in this process's memory.
type ownBuckets struct {
	clock core.Clock

	mu      sync.Mutex
	buckets map[BucketKey]*window
	sweepAt int
}

const firstSweep = 4096

// OwnBuckets returns buckets that only this process sees. They never fail.
func OwnBuckets(clock core.Clock) Buckets {
	return &ownBuckets{clock: clock, buckets: map[BucketKey]*window{}, sweepAt: firstSweep}
}

func (o *ownBuckets) Take(_ context.Context, key BucketKey, limit, cost int) (Rate, bool, error) {
	state, admitted := o.bucket(key, limit).take(o.clock, cost)
	return state, admitted, nil
}

// bucket returns the bucket of a key, and creates it if it does not exist or its limit
// changed. A new bucket is full.
func (o *ownBuckets) bucket(key BucketKey, limit int) *window {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w, ok := o.buckets[key]; ok && w.limit == limit {
		return w
	}
	if len(o.buckets) >= o.sweepAt {
		o.sweep()
	}
	w := &window{limit: limit}
	o.buckets[key] = w
	return w
}

// sweep deletes the buckets without calls in the last minute. A new bucket would be equal.
// The caller holds the lock.
func (o *ownBuckets) sweep() {
	now := o.clock().UnixMicro()
	for key, w := range o.buckets {
		if w.empty(now) {
			delete(o.buckets, key)
		}
	}
	o.sweepAt = max(firstSweep, 2*len(o.buckets))
}
