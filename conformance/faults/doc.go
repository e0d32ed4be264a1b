// Package faults tests the product while a sending account fails. Calls that need the
// account fail with upstream_unavailable, alike on both surfaces and without any text of
// the provider. All other calls succeed.
//
// Failures are caused in two ways: by the switches of the simulated account, and by a
// server on the loopback that answers the product's calls as no provider should.
package faults
