// Package wire is the simulated account's second face: the REST and JSON of Amazon
// SES v2 over the same engine, for one organization. The adapter for SES is driven
// by it through its SDK, without a socket. It keeps no state of its own and has no
// rules but those of the wire: paths, members, error names, page tokens.
//
// # What it does not
//
// Signatures are not checked, only that one is there and whose key it names. A
// message's content is simple or a stored template: raw content, templates given
// along with a message and attachments are BadRequestException. So are filters of
// contacts, and entries of a bulk with other than one recipient or headers of
// their own. Other paths than those of [New] are UnknownOperationException.
package wire
