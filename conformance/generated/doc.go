// Package generated writes the parts of the repository's documents that are derived from
// the code: the tables of the README, the catalogues of scopes and errors, the schema. They
// are committed, so that people can read them in the repository. A test fails if a
// committed document differs from the code; "make generate" writes it again.
//
// The generator is a test with a flag, not a program, so that every test run finds an
// outdated document. Texts about operations, scopes and errors are not here but in core, at
// the declarations that they describe.
package generated
