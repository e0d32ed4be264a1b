// Package smtpd is the receiving end of SMTP (RFC 5321). It owns the protocol:
// greeting, limits, timeouts and the answer to each recipient.
//
// It is told nothing about which addresses exist, and no address of this service
// receives mail, so every recipient is refused with 550 5.1.1 before a message
// is transferred. There is no relaying and no authentication to ask for it: the
// only thing a client can do here is learn that the inbox does not exist.
//
// It keeps nothing and sends nothing.
package smtpd
