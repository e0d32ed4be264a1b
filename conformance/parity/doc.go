// Package parity tests the responses of the product's two surfaces, the REST API and the
// MCP tools.
//
// For the same operation and arguments, both must return the same values or the same
// problem. A test fails if this package does not compare every operation that has a tool
// and a route.
//
// The files named shape_* compare responses with tables of their members. A table lists
// each member by its path, with the JSON types of its values and whether it may be null
// or absent. For an enumerated member it also lists the allowed words. Each table is
// checked against real responses about an organization with all kinds of data, and
// against the published schemas. So a test fails if a member is added, removed, renamed,
// or described differently from the response. These files also test the headers of the
// same routes, and the errors that each may return. Other packages of conformance test
// the values of the members.
package parity
