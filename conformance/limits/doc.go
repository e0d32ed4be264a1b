// Package limits tests every implementation of rate-limit buckets against the same rules.
// It also tests limits that several server processes share: the same headers and refusals
// in each, and calls that succeed while Redis is unavailable.
//
// Buckets in memory use a clock that the test moves. A real Redis uses its own time, which
// a test cannot move. Such a test waits, or measures the elapsed time and allows for the
// tokens returned in it.
//
// The tests run against the installed redis-server; see storagetest.Redis.
package limits
