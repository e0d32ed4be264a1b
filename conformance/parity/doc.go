// Package parity compares the two surfaces, REST and MCP tools. For the same operation and
// arguments both must return the same values, or refuse with the same problem.
//
// Every operation that has a tool and a route is compared here; a test fails if one is not.
package parity
