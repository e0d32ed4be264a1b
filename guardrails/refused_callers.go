package guardrails

import (
	"sync"
	"time"
)

// refusedCallers has the callers that the store of shared rate limits refuses until a time. A
// caller far above its limit would otherwise cost a request to the store for each of its calls.
// While a bucket is empty, no process can take a token from it, so what the store has answered
// stays true until the next token returns. The zero value is empty.
type refusedCallers struct {
	mu      sync.Mutex
	of      map[refusedKey]refusal
	sweepAt int
}

// refusedKey is a bucket with its limit: a bucket whose limit changes is full.
type refusedKey struct {
	BucketKey
	limit int
}

// refusal is the answer of the store that refused a call.
type refusal struct {
	state Rate
	// asked and answered are the times before and after the request. The next token returns at the
	// time asked + state.retry at the earliest, and at answered + state.retry at the latest.
	asked, answered time.Time
}

// ended reports whether a token may have returned.
func (r refusal) ended(now time.Time) bool { return now.Sub(r.asked) >= r.state.retry }

// remember stores that a call was refused. It does so only for calls that take one token: if a
// call that takes more is refused, others may still take those that are left.
func (c *refusedCallers) remember(key BucketKey, limit, cost int, r refusal) {
	if cost != 1 || r.ended(r.answered) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of, c.sweepAt = map[refusedKey]refusal{}, firstSweep
	}
	if len(c.of) >= c.sweepAt {
		for key, other := range c.of {
			if other.ended(r.answered) {
				delete(c.of, key)
			}
		}
		c.sweepAt = max(firstSweep, 2*len(c.of))
	}
	c.of[refusedKey{key, limit}] = r
}

// find returns the state of a bucket if the store would refuse a call now. The times in it are
// never too short, so that a client that waits for them is admitted.
func (c *refusedCallers) find(key BucketKey, limit, cost int, now time.Time) (Rate, bool) {
	if cost != 1 {
		return Rate{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known := c.of[refusedKey{key, limit}]
	if !known {
		return Rate{}, false
	}
	if r.ended(now) {
		delete(c.of, refusedKey{key, limit})
		return Rate{}, false
	}
	passed := now.Sub(r.answered)
	return NewRate(r.state.Limit, r.state.Remaining, r.state.reset-passed, r.state.retry-passed), true
}
