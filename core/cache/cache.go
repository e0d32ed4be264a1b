package cache

import (
	"sync"
	"time"
)

// evictionSample is how many entries a full cache compares to choose the one to drop.
const evictionSample = 8

// Cache is a bounded cache whose entries expire. A full cache drops the entry that
// expires first among a few random ones, so that a flood of keys costs bounded memory.
// It is safe for use by several goroutines.
type Cache[K comparable, V any] struct {
	limit int

	mu      sync.RWMutex
	entries map[K]cached[V]
	// epoch counts removals. Put refuses a value that was read before a removal,
	// because the removal may have meant it.
	epoch uint64
}

type cached[V any] struct {
	value V
	until time.Time
}

// New returns a cache of at most limit entries.
func New[K comparable, V any](limit int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, entries: make(map[K]cached[V])}
}

// Get returns the value of a key, unless it has expired at now.
func (c *Cache[K, V]) Get(key K, now time.Time) (V, bool) {
	c.mu.RLock()
	entry, ok := c.entries[key]
	c.mu.RUnlock()
	if !ok || !now.Before(entry.until) {
		var none V
		return none, false
	}
	return entry.value, true
}

// Epoch returns the count of removals. Take it before reading the value that Put will
// store.
func (c *Cache[K, V]) Epoch() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.epoch
}

// Put stores a value until the given instant, unless an entry was removed since epoch
// was taken.
func (c *Cache[K, V]) Put(key K, value V, until time.Time, epoch uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		return
	}
	if _, replaces := c.entries[key]; !replaces && len(c.entries) >= c.limit {
		c.evict()
	}
	c.entries[key] = cached[V]{value: value, until: until}
}

// evict drops one entry. Ranging over a Go map starts at a random place, so the first
// few entries are a sample.
func (c *Cache[K, V]) evict() {
	var victim K
	var soonest time.Time
	seen := 0
	for key, entry := range c.entries {
		if seen == 0 || entry.until.Before(soonest) {
			victim, soonest = key, entry.until
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	delete(c.entries, victim)
}

// Remove drops every entry that matches. It visits all entries, which is affordable
// because revocations are rare.
func (c *Cache[K, V]) Remove(matches func(V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	for key, entry := range c.entries {
		if matches(entry.value) {
			delete(c.entries, key)
		}
	}
}
