// Package layout tests the structure of the repository: its folders, the allowed imports,
// the length of files and functions, and what documentation must mention. Each rule is a Go
// test that parses the sources. The tests do not compile the code, and need no other tool
// and no network.
//
// Tests of the product's behaviour are in the other packages of conformance. The reasons
// for the rules are in core/doc/architecture.md.
package layout

// Module is the path of this module, the prefix of its import paths.
const Module = "github.com/mailhelm/mailhelm"
