// Package limits tests the stores of rate-limit buckets against one contract. It also
// tests limits that processes share: the same headers and refusals, and calls that
// succeed while Redis is unavailable.
//
// Buckets in memory use a clock that the test moves. Redis uses its own time, which a
// test cannot move. Such a test waits, or measures the elapsed time and allows for the
// tokens added in it.
//
// The tests run against a real Redis, the installed redis-server; see storagetest.Redis.
package limits
