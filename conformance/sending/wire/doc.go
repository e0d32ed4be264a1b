// Package wire serves the REST API of Amazon SES v2 for the simulated account of one
// organization. Tests run the SES adapter and its SDK against it, without a socket. The
// package has no state of its own. It only implements the wire format: paths, members,
// error names and page tokens.
//
// # What it does not do
//
// It does not verify signatures, but requires a signature with the expected key id. The
// content of a message is simple or a stored template. Raw content, inline templates and
// attachments fail with BadRequestException. So do filters of contacts, and bulk entries
// that have headers or do not have exactly one recipient. Paths other than those of [New]
// fail with UnknownOperationException.
package wire
