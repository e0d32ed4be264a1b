// Package generated writes the parts of the repository's documents that are derived from
// the code: tables in the README, the catalogues of scopes and errors, the database schema,
// the guide with the example workflows.
// The derived parts are committed, so that people can read them in the repository. A test
// fails if a committed document differs from the derived text; "make generate" updates the
// document.
//
// The generator is a test with the flag -update, so that every test run finds an outdated
// document. The texts about operations, scopes and errors come from their declarations in
// core.
package generated
