// Package ingest receives events about sent mail: POST /ingest/ses/{path} on the host of
// the public API. The path identifies the organization and proves nothing. A request proves
// in one of two ways that the organization's provider sent it: by the signature of an
// Amazon SNS notification from the topic of the organization's connection, or by the key
// that an Amazon EventBridge API destination sends.
//
// The answer is 202 once the event is committed, also if it was committed before. A failed
// proof and an unknown path get the same answer, so that it does not show whether a path
// exists.
//
// The package checks the two proofs. Package core/messages parses and stores events.
package ingest
