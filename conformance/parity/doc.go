// Package parity compares the two surfaces: a tool and a route must return the same
// values for the same thing, and the same problem when they refuse.
//
// Every operation that is on both surfaces has cases here; a test fails if one has none.
package parity
