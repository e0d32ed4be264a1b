// Package generated writes what the repository's documents take from the code:
// the tables of the README, the catalogues of scopes and errors, the schema. Each
// is committed, so that it can be read where it stands; its test fails when the
// code says something else, and "make generate" writes it anew.
//
// It is a test with a flag and not a program, so that whoever runs the tests
// learns of a document that lags behind. It owns no text about an operation, a
// scope or an error: those stand in core, beside what they describe.
package generated
