// Package sending is what every adapter of the port
// [github.com/mailhelm/mailhelm/core/sending.Account] promises, as tests. An
// adapter's own test calls [Run] with a way to make one.
//
// The suite knows the port alone: it asks nothing that only one provider could
// answer. How an adapter keeps its state, and what else it offers, is for its own
// tests.
package sending
