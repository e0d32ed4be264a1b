// Package smtpd is an SMTP server (RFC 5321) that receives mail and passes each message to
// [inbound.Intake]. It replies 250 to a message only after Intake has accepted it.
//
// It implements STARTTLS (RFC 3207), SIZE (RFC 1870), PIPELINING (RFC 2920), 8BITMIME (RFC
// 6152), SMTPUTF8 (RFC 6531), CHUNKING (RFC 3030) and ENHANCEDSTATUSCODES (RFC 2034). It does
// not offer authentication, and relays nothing: [inbound.Router] says which recipients are
// accepted.
//
// # Line ends
//
// Only CR LF ends a line. A message or a command with a CR or LF on its own is refused. So no
// text inside a message can end the message and begin a second one (SMTP smuggling). The
// decision page 100 has the reasons, and those for an SMTP engine of our own.
//
// # Flow of a connection
//
// A [Server] runs one session for each connection. The session reads commands through a wire,
// which flushes replies before it waits for the client. During DATA and BDAT, Intake reads the
// message from the connection, so a message is never in memory as a whole.
package smtpd
