// Package wire serves the REST API of Amazon SES v2 for the simulated account of one
// organization. Tests run the SES adapter and its SDK against it, without a socket. It
// has no state of its own. Its rules concern only the wire format: paths, members,
// error names, page tokens.
//
// # What it does not do
//
// It does not verify signatures; it only requires one with the expected key id. A
// message's content is simple or a stored template. Raw content, inline templates and
// attachments fail with BadRequestException. So do filters of contacts, and bulk
// entries with headers of their own or with other than one recipient. Paths other than
// those of [New] fail with UnknownOperationException.
package wire
