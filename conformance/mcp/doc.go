// Package mcp tests the agent endpoint against the protocol from outside. Two client
// libraries, which share no code with it or with each other, do the same work at all
// five revisions. Transcripts in testdata show the messages, one file for each revision
// and kind of exchange.
//
// A changed transcript is a change that clients see. `go test -update` writes the
// transcripts again, and the difference is part of the review. Single malformed requests
// are tested in package tools.
package mcp
