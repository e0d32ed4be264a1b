// Package layout holds the repository to its own shape: which folders there are,
// who may import whom, how long files and functions get, what documentation must
// name. Each rule is a Go test that reads the sources; none of them needs the
// code to compile, a tool or the network.
//
// It owns no rule about what the product does; its neighbours under conformance
// do. The reasons for the rules are in core/doc/architecture.md.
package layout

// Module is the path that every import of ours begins with.
const Module = "github.com/mailhelm/mailhelm"
