// Package server tests how a running server behaves as a whole, whatever its callers ask.
// The prefix of a file says which part it tests:
//
//   - limits: rate limits. Every implementation of rate-limit buckets follows the same
//     rules. Several server processes share limits: they return the same headers and refuse
//     the same calls. If Redis is unavailable, calls must still succeed.
//   - metrics and spans: what /metrics shows, read over HTTP, and the trace spans, received
//     as an OpenTelemetry collector receives them.
//   - faults: the failure of the sending account, the database or the disk. Calls that need
//     the failing account must fail with upstream_unavailable. The problem must be the same
//     for routes and tools, and must contain no text of the provider. All other calls must
//     succeed.
//   - product: the server that package conformance/product starts for tests.
//
// The account fails in two ways: the simulated account is set to fail, or a local server in
// place of Amazon SES sends broken answers. Other tests stop the database, fill its disk or
// occupy its connections. For these tests, two functions named init change SQLite in the
// whole test process. One replaces the SQL function replace by a version that can block
// searches for a word. The other can limit the size of a database file. They have no effect
// until a test chooses the word or the file.
//
// Tests can move the clock of buckets in memory, but not that of a real Redis. With a real
// Redis a test either waits, or measures the elapsed time and accounts for the tokens that
// the bucket regained in that time. The tests start the redis-server that is installed on
// the machine; see enginetest.Redis.
//
// Other packages, such as conformance/mcp and conformance/rest, test what calls return.
package server
