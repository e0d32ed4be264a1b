package core

import "time"

// Clock returns the current time. Code that needs the time receives a Clock, so that a test
// can control it.
type Clock func() time.Time

// SystemClock returns the machine's time in UTC, truncated to microseconds. Both databases
// store microseconds, so a stored time equals the one in memory.
func SystemClock() time.Time {
	return time.Now().UTC().Truncate(time.Microsecond)
}
