// Package cache has a cache of bounded size whose entries expire. A value that was read
// before a call of Remove cannot be stored after it. So a concurrent read cannot put back a
// value that Remove dropped, such as a token that was revoked.
//
// The cache does not read the clock: callers pass the time. Processes do not share entries.
package cache
