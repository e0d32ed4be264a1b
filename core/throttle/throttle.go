// Package throttle counts attempts by key in a fixed amount of memory. Callers choose the
// keys and pass the time.
//
// The counts are of one process. They slow down guessing and are not a quota: with n
// processes, an attacker has n times the attempts.
package throttle

import (
	"hash/maphash"
	"sync"
	"time"
)

// slots is the number of counts of a throttle, at 8 bytes each.
const slots = 1 << 16

// Throttle allows a burst of attempts for each key, and then one per period. It is safe for
// use by several goroutines.
//
// A key is hashed with a random seed of this process to one of a fixed number of slots. So a
// flood of keys takes no more memory and does not remove the count of another key. An
// attacker does not know the seed, and so cannot choose a key with the same slot as another
// one.
type Throttle struct {
	burst time.Duration // how far ahead of now a slot may be filled
	every time.Duration
	seed  maphash.Seed

	mu sync.Mutex
	// full has for each slot the time when all its attempts are available again, in
	// nanoseconds since 1970. It is the theoretical arrival time of the generic cell rate
	// algorithm.
	full []int64
}

// New returns a throttle that allows burst attempts of a key at once, and then one more
// after each period.
func New(burst int, every time.Duration) *Throttle {
	return &Throttle{
		burst: time.Duration(burst) * every, every: every, seed: maphash.MakeSeed(), full: make([]int64, slots),
	}
}

// Take counts an attempt and returns 0. If none is left, it counts nothing and returns the
// time until the next one. So callers who keep trying do not extend their wait.
func (t *Throttle) Take(key string, now time.Time) time.Duration {
	slot := t.slot(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	next := max(t.full[slot], now.UnixNano()) + int64(t.every)
	if wait := time.Duration(next-now.UnixNano()) - t.burst; wait > 0 {
		return wait
	}
	t.full[slot] = next
	return 0
}

// Forget clears the count of a key.
func (t *Throttle) Forget(key string) {
	slot := t.slot(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.full[slot] = 0
}

func (t *Throttle) slot(key string) uint64 { return maphash.String(t.seed, key) % slots }
