// Package ingest receives events about sent mail: POST /ingest/ses/{path} on the host of
// the public API. The path names the organization and proves nothing. The origin of an
// event is proven in one of two ways: by the signature of an Amazon SNS notification from
// the topic of the organization's connection, or by the key that an Amazon EventBridge API
// destination sends.
//
// The answer is 202 once the event is committed, also when it was committed before. Every
// fault of the proof has the same answer as an unknown path, so that the answer does not
// show whether a path exists.
//
// The package owns the two proofs. Events are parsed and stored by core/messages.
package ingest
