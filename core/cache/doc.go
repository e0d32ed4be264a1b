// Package cache remembers values for a while in bounded memory. A value that was read
// before a removal cannot be stored after it, so that a revocation is not undone by a
// concurrent read.
//
// It reads no clock: callers pass the time. It is of one process.
package cache
