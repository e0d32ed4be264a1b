// Package parity holds the two surfaces to each other: what a tool and a route
// say about the same thing is the same, and so is the problem when they refuse.
//
// Every operation that is on both surfaces has its cases here; a test fails when
// one that is has none.
package parity
