// Package throttle counts attempts by key in a fixed amount of memory. It does not
// know what is attempted, nor who waits: callers name the key and tell the time.
//
// The counts are of this process. They brake guessing and are no quota: a guesser
// who reaches n processes has n times the attempts.
package throttle

import (
	"hash/maphash"
	"sync"
	"time"
)

// slots bounds the memory of a throttle, at 8 bytes each.
const slots = 1 << 16

// Throttle lets a burst of attempts through for each key, and then one after each
// period. It is safe for use by several goroutines.
//
// A key is hashed with a seed of this process to one of a fixed number of slots. So
// a flood of keys takes no more memory and does not push out the count of another
// key. An attacker does not know the seed, and cannot aim at the slot of another key.
type Throttle struct {
	burst time.Duration // how far ahead of now a slot may be filled
	every time.Duration
	seed  maphash.Seed

	mu sync.Mutex
	// full is, by slot, when the last attempt will have come back, in nanoseconds
	// since 1970: the theoretical arrival time of the generic cell rate algorithm.
	full []int64
}

// New makes a throttle that lets burst attempts of a key through at once; one comes
// back after each period.
func New(burst int, every time.Duration) *Throttle {
	return &Throttle{
		burst: time.Duration(burst) * every, every: every, seed: maphash.MakeSeed(), full: make([]int64, slots),
	}
}

// Take counts an attempt. With none left it returns how long to wait for one, and
// counts nothing: waiting helps also those who keep trying.
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
