// Package shapes compares the product's responses with tables of their members. A table
// lists each member by its path, with the JSON types of its values and whether it may be
// null or absent. For an enumerated member it also lists the allowed words. Each table is
// checked against real responses about an organization with all kinds of data, and against
// the published schemas. So a test fails if a member is added, removed, renamed, or
// described differently from the response. The package also tests the headers of the same
// routes, and the errors that each may return.
//
// The other packages of conformance test the values of the members.
package shapes
