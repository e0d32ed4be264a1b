// Package smtp is a sending account for customers without a provider's API: it hands
// messages to any SMTP server that accepts them from its user.
//
// # What it does
//
// [SMTP.Send] writes one MIME message and hands it over in one transaction: the server
// accepts it for all recipients or for none. The connection is encrypted from the start
// (port 465) or by STARTTLS, which is required. Only a connection to this machine may
// be unencrypted. The server's certificate is verified. A password is sent by PLAIN or
// LOGIN, and only on such a connection.
//
// Nothing is retried here. When the connection ends between the final dot and the
// server's reply, the outcome is unknown, and the call fails with TimedOut.
//
// # What SMTP does not have
//
// Quota, rate and identities come from the configuration. This process enforces the
// quota and the rate: the count of the last 24 hours is in memory and starts at zero.
// Topics and consent are stored elsewhere ([Config.Consent]). There are no
// configuration sets, templates or suppression lists. Reading them returns none;
// writing them is Unsupported.
//
// Results of delivery arrive by mail: [ParseFeedback] reads delivery reports (RFC 3464)
// and complaints (RFC 5965). Nothing receives them yet.
package smtp
