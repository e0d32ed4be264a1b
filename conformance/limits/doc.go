// Package limits holds the stores of rate-limit buckets to one contract, and the
// product to what it promises about limits that processes share: the same
// headers, the same refusals, and calls that go on when Redis does not.
//
// The process's own buckets go by a clock that the test moves. Redis keeps its
// own time, which no test can move: there a test waits, or measures how long it
// took and allows for the tokens that came meanwhile.
//
// Redis is a real one, of the installed redis-server; see storagetest.Redis.
package limits
