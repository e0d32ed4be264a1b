package guardrails

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"golang.org/x/time/rate"
)

// ownBuckets keeps the buckets in this process's memory.
type ownBuckets struct {
	clock core.Clock

	mu      sync.Mutex
	buckets map[BucketKey]*bucket
	sweepAt int
}

type bucket struct {
	limit  int
	tokens *rate.Limiter
}

const firstSweep = 4096

// OwnBuckets are buckets that no other process sees. They never fail.
func OwnBuckets(clock core.Clock) Buckets {
	return &ownBuckets{clock: clock, buckets: map[BucketKey]*bucket{}, sweepAt: firstSweep}
}

func (o *ownBuckets) Take(_ context.Context, key BucketKey, limit, cost int) (Rate, bool, error) {
	now := o.clock()
	b := o.bucket(key, limit, now)
	admitted := b.tokens.AllowN(now, cost)
	return RateOf(limit, b.tokens.TokensAt(now)), admitted, nil
}

// bucket finds or makes the bucket.
func (o *ownBuckets) bucket(key BucketKey, limit int, now time.Time) *bucket {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b, ok := o.buckets[key]; ok && b.limit == limit {
		return b
	}
	if len(o.buckets) >= o.sweepAt {
		o.sweep(now)
	}
	b := &bucket{limit: limit, tokens: rate.NewLimiter(rate.Limit(float64(limit)/60), limit)}
	o.buckets[key] = b
	return b
}

// sweep drops full buckets: a new one would be the same.
func (o *ownBuckets) sweep(now time.Time) {
	for key, b := range o.buckets {
		if b.tokens.TokensAt(now) >= float64(b.limit) {
			delete(o.buckets, key)
		}
	}
	o.sweepAt = max(firstSweep, 2*len(o.buckets))
}
