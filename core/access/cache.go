package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// evictionSample is how many entries a full cache looks at to find one to drop.
const evictionSample = 8

// Proof names a bearer credential by its SHA-256, so that no cache holds the
// credential itself.
type Proof [sha256.Size]byte

// ProofOf is the proof of a bearer credential.
func ProofOf(bearer string) Proof { return sha256.Sum256([]byte(bearer)) }

// Cache remembers for a while what was found out about bearer credentials. It is
// bounded: when it is full, the one of a few random entries that ends soonest
// makes room, so that a flood of credentials costs memory only up to the bound.
// It is safe for use by several goroutines.
type Cache[K comparable, V any] struct {
	limit int

	mu      sync.RWMutex
	entries map[K]cached[V]
	// epoch counts removals. A value that was read before a removal and arrives
	// after it may be what the removal meant, so Put refuses it.
	epoch uint64
}

type cached[V any] struct {
	value V
	until time.Time
}

// NewCache makes a cache for at most limit entries.
func NewCache[K comparable, V any](limit int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, entries: make(map[K]cached[V])}
}

// Get returns what is remembered and not over at now.
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

// Epoch is to be taken before reading what Put will store.
func (c *Cache[K, V]) Epoch() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.epoch
}

// Put remembers a value until the instant given, unless something was removed
// since the epoch was taken.
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

// evict drops one entry. Go ranges over a map from a random place, which makes
// the first few entries a sample.
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

// Remove drops every entry that matches. It looks at all of them, which is cheap
// beside how rarely something is revoked.
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
