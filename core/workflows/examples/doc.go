// Package examples has the sources of six workflows that work, for the documentation, the
// demo and tests. Each source is a file with the extension workflow, in canonical spelling.
//
// It has no tests of what the workflows do: those are in packages simulation and runner. The
// guide with the examples is generated from the sources.
package examples
