package core

import "time"

// Clock tells the time. Everything that needs the time is handed one, so that a
// test can hold it still or move it.
type Clock func() time.Time

// SystemClock is the machine's clock in UTC, cut to microseconds: the finest
// step both databases keep, so that a stored time equals the one in memory.
func SystemClock() time.Time {
	return time.Now().UTC().Truncate(time.Microsecond)
}
