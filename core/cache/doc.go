// Package cache has a cache of bounded size whose entries expire. A value that was read
// before a call of Remove cannot be stored after it, so a concurrent read does not undo a
// revocation.
//
// The cache does not read the clock: callers pass the time. Processes do not share entries.
package cache
