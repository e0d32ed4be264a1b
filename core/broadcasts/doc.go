// Package broadcasts sends one message to a list or a segment.
//
// A [Broadcast] is written as a draft, tried with test sends and a preview, and then sent at
// once or at a time:
//
//	draft ──send──▶ sending ──finish──▶ sent, partially_failed
//	  │ ▲              ▲
//	  │ └──reschedule  │ the time comes
//	  └──send──▶ scheduled ──cancel──▶ cancelled
//
// At the start of the send, the audience is copied to the recipients of package handover in
// one statement, and the content is stored with the broadcast. Package handover then passes
// one message to each recipient, and judges suppression and consent just before. Package
// dispatch starts due broadcasts, drives the running ones and ends them.
//
// The results are the recipients of package handover. The counts in the broadcast's row are
// a copy of them, which may lag while it sends.
package broadcasts
