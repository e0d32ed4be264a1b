// Package throttle limits attempts, such as wrong passwords, by key in a bounded amount of
// memory. Callers choose the keys and pass the time.
//
// Each process has its own counts. They slow down guessing and are not a quota: with n
// processes, an attacker has n times the attempts.
package throttle

import (
	"hash/maphash"
	"sync"
	"time"
)

// slots is the number of counters in a Throttle, of 8 bytes each. They are allocated in blocks,
// each at the first attempt of one of its keys, because most throttles of a server at rest have
// no attempts.
const (
	slots     = 1 << 16
	blockSize = 1 << 10 // counters in a block
)

// Throttle allows a burst of attempts for each key, and then one attempt per period. It is
// safe for use by several goroutines.
//
// A key is hashed with a random seed of this process to one of a fixed number of counters.
// So many different keys take no more memory and do not remove the count of another key. An
// attacker does not know the seed, so the attacker cannot choose a key with the same
// counter as another key.
type Throttle struct {
	burst time.Duration // the time in which all attempts of a burst become available again
	every time.Duration
	seed  maphash.Seed

	mu sync.Mutex
	// full has for each counter the time at which all attempts are available again, in
	// nanoseconds since 1970. It is the theoretical arrival time of the generic cell rate
	// algorithm (GCRA). A block is nil if none of its counters was used.
	full [slots / blockSize]*[blockSize]int64
}

// New returns a Throttle. It allows for each key as many attempts at once as the parameter
// burst says. After each period of length every, it allows one more.
func New(burst int, every time.Duration) *Throttle {
	return &Throttle{burst: time.Duration(burst) * every, every: every, seed: maphash.MakeSeed()}
}

// Take counts one attempt for the key and returns 0. If no attempt is left, it counts
// nothing and returns the time until the next one is available. So repeated attempts do not
// extend the wait.
func (t *Throttle) Take(key string, now time.Time) time.Duration {
	slot := t.slot(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	full := t.counter(slot)
	next := max(*full, now.UnixNano()) + int64(t.every)
	if wait := time.Duration(next-now.UnixNano()) - t.burst; wait > 0 {
		return wait
	}
	*full = next
	return 0
}

// Forget makes all attempts of a key available again.
func (t *Throttle) Forget(key string) {
	slot := t.slot(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	*t.counter(slot) = 0
}

// counter returns the counter of a slot. The caller holds t.mu.
func (t *Throttle) counter(slot uint64) *int64 {
	block := &t.full[slot/blockSize]
	if *block == nil {
		*block = new([blockSize]int64)
	}
	return &(*block)[slot%blockSize]
}

func (t *Throttle) slot(key string) uint64 { return maphash.String(t.seed, key) % slots }
