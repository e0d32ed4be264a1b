package cache

import (
	"sync"
	"time"
)

// evictionSample is how many entries a full cache compares to choose the entry to drop.
const evictionSample = 8

// Cache is a bounded cache whose entries expire. A full cache drops the entry that expires
// first among a few random entries, so that a flood of keys cannot exhaust memory. It is
// safe for use by several goroutines.
type Cache[K comparable, V any] struct {
	limit int

	mu      sync.RWMutex
	entries map[K]cached[V]
	// epoch counts the calls of Remove. Put does not store a value that was read before the
	// latest Remove, because that Remove may have been for the same key.
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

// Get returns the value of a key. It returns false if the cache has no value for the key or
// if the value has expired at now.
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

// Epoch returns the count of calls of Remove. Call it before reading the value that is
// passed to Put.
func (c *Cache[K, V]) Epoch() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.epoch
}

// Put stores a value until the given time. The caller must have got epoch from Epoch before
// it read the value. If Remove was called since, Put does nothing.
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

// evict drops the entry that expires first among the first few entries. Ranging over a Go
// map starts at a random entry, so these are a random sample.
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

// Remove drops every entry for whose value matches returns true. It visits all entries,
// which is affordable because callers need it rarely, such as when a token is revoked.
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
