// Package faults tests the product while something that it depends on fails: the sending
// account, the database or the disk. Calls that need the failing account fail with
// upstream_unavailable, with the same problem on both surfaces and without any text of the
// provider. All other calls succeed.
//
// The account fails in two ways: by the switches of the simulated account, and by a local
// server in place of Amazon SES that sends broken answers. Other tests stop the database,
// fill its disk or occupy its connections.
package faults
