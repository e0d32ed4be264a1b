// Package mcp holds the agent endpoint to the protocol from outside: two client
// libraries that share no code with it or with each other do the same work at
// all five revisions, and transcripts in testdata show what is on the wire, one
// file for each revision and kind of exchange.
//
// A transcript that changed is a change that clients see. `go test -update`
// writes them anew; the difference is then part of the review. What package
// tools does about a single malformed request is tested there.
package mcp
