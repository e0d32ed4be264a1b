// Package smtp is a sending account for people without a provider's interface: it
// hands messages to any SMTP server that takes them for its user.
//
// # What it does
//
// [SMTP.Send] writes one MIME message and hands it over in one transaction: the
// server takes it for all recipients or for none. A connection is encrypted before
// anything is said on it (port 465) or by STARTTLS, which is required; only to the
// machine itself it may stay in the clear. The server's certificate is verified,
// and a password is sent by PLAIN or LOGIN on such a connection alone.
//
// Nothing is repeated here. When the connection ends between the dot after the
// message and the server's answer, the outcome is unknown, and the call fails with
// TimedOut.
//
// # What SMTP cannot say
//
// Quota, rate and identities are what the configuration says. The quota and the rate
// are kept here, for one process: the count of the last 24 hours is in memory and
// starts at nothing. Topics and consent live in a store that is handed in
// ([Config.Consent]). There are no configuration sets, no templates and no list of
// suppressed addresses; reading them finds none, writing them is Unsupported.
//
// What becomes of a message is told by mail: [ParseFeedback] reads delivery reports
// (RFC 3464) and complaints (RFC 5965). Nothing receives them yet.
package smtp
