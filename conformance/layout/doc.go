// Package layout tests the structure of the repository: its folders, the allowed
// imports, the length of files and functions, and what documentation must mention. Each
// rule is a Go test that reads the sources. None of them compiles the code, or needs a
// tool or the network.
//
// It owns no rule about the behaviour of the product; the other packages of conformance
// do. The reasons for the rules are in core/doc/architecture.md.
package layout

// Module is the path of this module, the prefix of its import paths.
const Module = "github.com/mailhelm/mailhelm"
