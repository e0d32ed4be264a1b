// Package generated writes those parts of the repository's documents that come from the
// code: the tables of the README, the catalogues of scopes and errors, the schema. They
// are committed, so that they can be read in place. A test fails if one differs from the
// code, and "make generate" writes them again.
//
// The generator is a test with a flag, not a program, so that running the tests reveals
// an outdated document. It contains no text about an operation, a scope or an error:
// those are in core, next to what they describe.
package generated
