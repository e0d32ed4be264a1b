package product

import (
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Clock is a clock that a test can advance or stop. Before that it shows the machine's
// time. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	// ahead is the sum of all durations by which Advance has moved the clock. Now adds it to
	// the machine's time.
	ahead time.Duration
	// frozen is the time of a stopped clock; nil while the clock runs.
	frozen *time.Time
}

// NewClock returns a clock that shows the machine's time.
func NewClock() *Clock { return &Clock{} }

// Now returns the time of the clock: the stopped time, or the machine's time plus all
// advances. Pass c.Now where a [core.Clock] is needed.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen != nil {
		return *c.frozen
	}
	return core.SystemClock().Add(c.ahead)
}

// Advance moves the clock forward by d, or back if d is negative. It does not start a
// stopped clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
	if c.frozen != nil {
		at := c.frozen.Add(d)
		c.frozen = &at
	}
}

// Freeze stops the clock at the given time, truncated to microseconds. The clock cannot be
// started again; Advance still moves it.
func (c *Clock) Freeze(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at = at.UTC().Truncate(time.Microsecond)
	c.frozen = &at
}
