// Package parity compares the two surfaces of the product, the REST API and the MCP tools.
// For the same operation and arguments, both must return the same values or the same
// problem.
//
// A test fails if this package does not compare every operation that has a tool and a
// route.
package parity
