// Package sending has the tests that every adapter of the port
// [github.com/mailhelm/mailhelm/core/sending.Account] must pass. An adapter's own test
// calls [Run] with a function that opens one.
//
// The suite uses the port alone, and nothing that is particular to one provider. How an
// adapter stores its state, and what else it offers, is covered by its own tests.
package sending
