// Package clients runs third-party OAuth and MCP clients against a server that a test has
// started. The clients are Node.js programs in this folder; package.json has the exact
// versions of their dependencies.
//
// [Run] runs one of the programs. [Suite] and [ServerSuite] run the official MCP
// conformance suite, for authorization servers and for MCP servers. The tests check what
// the programs report.
//
// The dependencies come from npm. They include Node.js, because the suite needs a newer
// version than Debian's. On a machine without npm the tests are skipped; if the environment
// variable CI is true, they fail.
package clients
