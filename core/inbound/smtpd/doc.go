// Package smtpd is an SMTP server (RFC 5321). It implements greeting, limits, timeouts and
// the reply to each recipient.
//
// No address of this service receives mail. The server refuses every recipient with 550
// 5.1.1, before a message is transferred. It does not relay and does not offer
// authentication. A client can only learn that the mailbox does not exist.
//
// It stores nothing and sends nothing.
package smtpd
