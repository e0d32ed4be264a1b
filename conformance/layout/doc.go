// Package layout tests the structure of the repository: its folders, the allowed imports,
// the length of files and functions, the size of packages and types, and the required
// documents. Each rule is a Go test that parses the source files. The tests do not compile
// the code, and need no network and no program but Go.
//
// The product's behaviour is tested in the other packages of conformance. The reasons for
// the rules are in core/doc/architecture.md.
package layout

// Module is the path of this module, the prefix of its import paths.
const Module = "github.com/mailhelm/mailhelm"
