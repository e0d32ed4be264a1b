// Package whole proves what is true of every operation there is and will be, on
// the running product: who may call it, that nothing of another organization can
// be reached through it, and that text which outsiders wrote stays text.
//
// The cases are made from the catalogue, the routes and the input schemas, so a
// new operation is covered by being declared. What the tests cannot derive (what a
// member of an input names) stands in a table that a new member must enter. The
// package owns no test of what a single operation does.
package whole
