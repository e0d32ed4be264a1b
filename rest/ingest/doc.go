// Package ingest is the address that events about sent mail come in at:
// POST /ingest/ses/{path} on the host of the public API. The path names the
// organization and proves nothing; what proves where an event comes from is either
// the signature of an Amazon SNS notification from the one topic that the
// organization's connection names, or the key that an Amazon EventBridge API
// destination sends along.
//
// An event is answered with 202 when it is committed, however often it came
// before. Whatever is wrong with the proof is answered alike, as an unknown path
// is, so that a stranger learns nothing from trying.
//
// It owns the two ways in. What an event says, and what becomes of it, is
// core/messages'.
package ingest
