// Package generated writes the parts of the repository's documents that are derived from
// the code: tables in the README, the catalogues of scopes and errors, the database schema.
// They are committed, so that people can read them in the repository. A test fails if a
// committed document differs from the derived text; "make generate" writes it again.
//
// The generator is a test with the flag -update, so that every test run finds an outdated
// document. The texts about operations, scopes and errors are in core, in the declarations
// of these.
package generated
