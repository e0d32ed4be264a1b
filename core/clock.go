package core

import (
	"context"
	"time"
)

// Clock returns the current time. Code that needs the time receives a Clock, so that a test
// can control it.
type Clock func() time.Time

// SystemClock returns the machine's time in UTC, truncated to microseconds. Both databases
// store microseconds, so a stored time equals the one in memory.
func SystemClock() time.Time {
	return time.Now().UTC().Truncate(time.Microsecond)
}

// Sleep waits for a duration, or until ctx ends; it then returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
