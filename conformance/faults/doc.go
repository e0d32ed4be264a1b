// Package faults holds the product to what it promises while a sending account
// fails: who must ask the account is refused with upstream_unavailable, the same on
// both surfaces and without a word of the provider's, and whatever can be answered
// without it is answered.
//
// Failures are made twice: by the switches of the simulated account, and by a
// server on the loopback that answers the product's calls as no provider should.
package faults
