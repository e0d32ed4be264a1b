// Package shapes compares the product's answers with tables of their members. Each
// member is listed by its path, with the kinds of its values, whether it may be null or
// absent, and its allowed words. A table is checked twice: against real answers about an
// organization with all kinds of data, and against the published schemas. A member that
// is added, removed, renamed or described differently from its answer therefore fails a
// test. The same routes are also tested for their headers and for the ways in which each
// may refuse.
//
// It owns no rule about the values; the other packages of conformance do.
package shapes
