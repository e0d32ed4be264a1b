// Package clients runs OAuth and MCP clients of other projects against a server that a
// test has started. They are programs for Node.js in this folder; package.json has the
// exact versions of their dependencies.
//
// [Run] runs one of the programs, [Suite] the official conformance suite for
// authorization servers. The package installs them and communicates with them; the tests
// check what they report.
//
// The packages come from npm. Node.js is among them, because the suite needs a newer
// version than Debian's. On a machine without npm the tests are skipped, unless CI is
// true.
package clients
