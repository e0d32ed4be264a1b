// Package sending has the tests that every adapter of the interface
// [github.com/mailhelm/mailhelm/core/sending.Account] must pass. The interface is called
// the port. An adapter's own test calls [Run] with a function that opens the adapter.
//
// The tests use only the methods of the interface, and nothing that is particular to one
// provider. Tests of other things, such as of how an adapter stores its state, are in the
// adapter's package.
package sending
