// Package whole tests rules that hold for every operation, on the running product. The
// rules are: which scopes a caller needs, that no call reaches another organization's data,
// and that text from outside is never interpreted.
//
// The cases are derived from the operation catalogue, the routes and the input schemas, so
// that new operations are tested as soon as they are declared. The kind of object that an
// input member names cannot be derived. It is in a table, to which new members must be
// added. The package has no test of a single operation.
package whole
