// Package faults tests the product while a part that it depends on fails: the sending
// account, the database or the disk. Calls that need the failing account must fail with
// upstream_unavailable. The problem must be the same for routes and tools, and must contain
// no text of the provider. All other calls must succeed.
//
// The account fails in two ways: the simulated account is set to fail, or a local server in
// place of Amazon SES sends broken answers. Other tests stop the database, fill its disk or
// occupy its connections.
package faults
