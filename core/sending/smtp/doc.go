// Package smtp is a sending account for customers without the API of a provider: it sends
// messages through an SMTP server.
//
// # What it does
//
// [SMTP.Send] writes one MIME message and sends it in one SMTP transaction: the server
// accepts it for all recipients or for none. The connection is encrypted from the start
// (on port 465, or with [Server.ImplicitTLS]), else by STARTTLS, which is then required.
// Only a connection to this machine may be unencrypted. The server's certificate is
// verified. A password is sent by PLAIN or LOGIN, and only over an encrypted connection or
// to this machine.
//
// The commands before the content are sent at once if the server supports it (RFC 2920).
// Connections are kept for further messages. If the server has ended one of them, the message
// is sent over another, because the server took no content of it. Otherwise the package does
// not retry. If the connection ends between the final dot of a message and the server's
// reply, the outcome is unknown, and the call fails with TimedOut.
//
// # What SMTP does not have
//
// Quota, rate and identities come from the configuration. This process enforces the quota
// and the rate: the count of the last 24 hours is in memory and starts at zero.
// [Config.Consent] stores topics and consent. There are no configuration sets, templates
// or suppression lists: their lists are empty, reading a single template or suppressed
// address fails with NotFound, and storing a template fails with Unsupported.
//
// Results of delivery arrive as mails: delivery reports (RFC 3464) and complaints (RFC
// 5965). Mailhelm does not read them yet; the parser for them is only in the tests.
package smtp
