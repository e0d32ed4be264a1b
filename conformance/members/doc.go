// Package members holds what the product answers against tables of its members:
// each by its path, with the kinds of its values, whether it may be null or absent,
// and the words it may have. A table says the same twice: of real answers about an
// organization that has everything, and of the schemas that callers are given. So a
// member that is added, dropped, renamed or described otherwise than it is answered
// is a difference here. The same routes are asked for their headers and for the ways
// in which each may refuse.
//
// It owns no rule about the values; its neighbours do.
package members
