package access

import (
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// throttleSlots bounds the memory of a throttle: a bucket is about 100 bytes.
const throttleSlots = 1 << 16

// throttle counts attempts by key. A key is hashed with a seed of this process
// to one of a fixed number of slots. So no flood of keys takes more memory or
// pushes out the count of another key, and nobody can aim at the slot of
// somebody else.
type throttle struct {
	burst int
	every time.Duration // one attempt comes back after this
	seed  maphash.Seed

	mu      sync.Mutex
	buckets map[uint64]*rate.Limiter
}

func newThrottle(burst int, every time.Duration) *throttle {
	return &throttle{burst: burst, every: every, seed: maphash.MakeSeed(), buckets: map[uint64]*rate.Limiter{}}
}

// take counts an attempt. With none left it returns how long to wait for one,
// and counts nothing: waiting helps also those who keep trying.
func (t *throttle) take(key string, now time.Time) time.Duration {
	slot := t.slot(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	bucket, ok := t.buckets[slot]
	if !ok {
		bucket = rate.NewLimiter(rate.Every(t.every), t.burst)
		t.buckets[slot] = bucket
	}
	attempt := bucket.ReserveN(now, 1)
	wait := attempt.DelayFrom(now)
	if wait > 0 {
		attempt.CancelAt(now)
	}
	return wait
}

// forget clears the count of a key.
func (t *throttle) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.buckets, t.slot(key))
}

func (t *throttle) slot(key string) uint64 {
	return maphash.String(t.seed, key) % throttleSlots
}
