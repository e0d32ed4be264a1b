package product

import (
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Clock is a clock that a test moves. Until it is told otherwise it is the
// machine's. Safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	ahead  time.Duration
	frozen *time.Time
}

// NewClock is a clock that runs with the machine's.
func NewClock() *Clock { return &Clock{} }

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen != nil {
		return *c.frozen
	}
	return core.SystemClock().Add(c.ahead)
}

// Advance moves the clock by d; it goes on running, or standing still, as before.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
	if c.frozen != nil {
		at := c.frozen.Add(d)
		c.frozen = &at
	}
}

// Freeze stops the clock at an instant, to the microsecond.
func (c *Clock) Freeze(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at = at.UTC().Truncate(time.Microsecond)
	c.frozen = &at
}
