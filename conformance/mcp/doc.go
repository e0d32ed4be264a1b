// Package mcp tests Mailhelm's agent endpoint over HTTP against the Model Context Protocol.
// Two client libraries, which share no code with the endpoint or with each other, make the
// same calls at all five revisions of the protocol. The files in testdata are transcripts
// of the messages, one for each revision and kind of exchange.
//
// A change of a transcript is a change that clients can see. `go test -update` writes the
// transcripts again; check the difference before you commit it. Single malformed requests
// are tested in package tools.
package mcp
