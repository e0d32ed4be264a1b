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
//
// # Places
//
// At most [Limits].Connections connections have a session, and a client may be silent for five
// minutes, as RFC 5321 section 4.5.3.2.7 asks. When all places are taken and another client
// connects, the server displaces one connection with 421 4.3.2, so that idle connections cannot
// keep mail out. Those that may be displaced are:
//
//   - without a message in transfer, a client that has sent no complete command for five seconds,
//     reads no reply, or has had no message accepted for a minute, whatever it sends;
//   - with a message in transfer, a client that has sent less than 500 bytes for each second that
//     the server waited for them, at least 30 seconds. Time in which Intake works does not count.
//
// Of these, one goes that has delivered no message, if there is one, and of several the one whose
// last accepted message, or else its connection, is the oldest. So clients that deliver mail stay,
// and a message in transfer at a usual rate is never cut off. A displaced client has no reply 250
// for its message and tries again later. While none may be displaced, the new client waits.
package smtpd
