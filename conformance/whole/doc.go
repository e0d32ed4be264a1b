// Package whole tests rules that hold for every operation, present and future, on the
// running product. They are: who may call it, that it does not reach another
// organization's data, and that text from outsiders is never interpreted.
//
// The cases are derived from the catalogue, the routes and the input schemas, so a new
// operation is covered once it is declared. What cannot be derived (the meaning of an
// input member) is in a table to which a new member must be added. The package owns no
// test of what a single operation does.
package whole
