// Package limits tests every implementation of rate-limit buckets against the same rules.
// It also tests that several server processes share limits: they return the same headers
// and refuse the same calls. If Redis is unavailable, calls must still succeed.
//
// Tests can move the clock of buckets in memory, but not that of a real Redis. With a real
// Redis a test either waits, or measures the elapsed time and accounts for the tokens that
// the bucket regained in that time.
//
// The tests start the redis-server that is installed on the machine; see storagetest.Redis.
package limits
