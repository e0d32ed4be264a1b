package guardrails

import (
	"context"
	"sync"

	"github.com/mailhelm/mailhelm/core"
)

// ownBuckets keeps the token buckets of rate limits in the memory of this process.
type ownBuckets struct {
	clock core.Clock

	mu      sync.Mutex
	buckets map[BucketKey]*window
	sweepAt int
}

const firstSweep = 4096

// OwnBuckets returns token buckets in the memory of this process, which other processes do
// not share. Take never fails.
func OwnBuckets(clock core.Clock) Buckets {
	return &ownBuckets{clock: clock, buckets: map[BucketKey]*window{}, sweepAt: firstSweep}
}

func (o *ownBuckets) Take(_ context.Context, key BucketKey, limit, cost int) (Rate, bool, error) {
	state, admitted := o.bucket(key, limit).take(o.clock, cost)
	return state, admitted, nil
}

// bucket returns the bucket of a key. It creates a full bucket if there is none or if the
// limit has changed.
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

// sweep deletes the buckets from which no token was taken in the last minute, because they
// are full like new ones. The caller must hold o.mu.
func (o *ownBuckets) sweep() {
	now := o.clock().UnixMicro()
	for key, w := range o.buckets {
		if w.empty(now) {
			delete(o.buckets, key)
		}
	}
	o.sweepAt = max(firstSweep, 2*len(o.buckets))
}
