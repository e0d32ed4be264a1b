// Package sending has the tests that every adapter of the interface
// [github.com/mailhelm/mailhelm/core/sending.Account] must pass. The interface is called
// the port. An adapter's own test calls [Run] with a function that opens the adapter.
//
// The tests use only the methods of the port, and nothing that is particular to one
// provider. Each adapter has further tests of its own, such as of how it stores its state.
package sending
