// Package clients runs OAuth and MCP clients that others wrote, as programs of
// their own in Node.js, against a server that a test has started. Next to it are
// those programs, and package.json with the exact versions of what they use.
//
// [Run] runs one of the programs, [Suite] the official conformance suite for
// authorization servers. The package owns how they are installed and talked to;
// what they must report is the business of the tests.
//
// The packages come from npm, Node.js among them, because the suite needs a newer
// one than Debian's. A machine without npm skips the tests, unless CI is true.
package clients
