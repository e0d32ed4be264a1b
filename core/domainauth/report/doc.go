// Package report reads DMARC aggregate reports (RFC 9990, and RFC 7489 appendix C with the drafts
// before it): [Unpack] finds the XML documents in gzip, zip and base64, and [Parse] reads one.
//
// Receivers of mail write these reports with many programs, and a report cannot be asked for
// again. So both are tolerant: what can be read is kept, and what cannot is a [Warning]. Parse
// reads a stream with constant memory. It is a tokenizer of its own, because encoding/xml takes
// ten times as long and ends at the first mistake; a fuzz test compares both.
//
// The package knows nothing of organizations, and decides nothing: who sent the messages is
// decided by package sources. It drops the element envelope_to, because it says who received mail.
package report
