// Package shapes compares the product's responses with tables of their members. A table
// lists each member by its path, with the kinds of its values, whether it may be null or
// absent, and its allowed words. Each table is checked against real responses about an
// organization with all kinds of data, and against the published schemas. So a test fails
// if a member is added, removed, renamed, or described differently from the response. The
// package also tests the headers of the same routes, and the errors that each may return.
//
// The values themselves are tested by the other packages of conformance.
package shapes
