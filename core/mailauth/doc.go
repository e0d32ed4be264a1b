// Package mailauth has the vocabulary of authenticating a received message: what is checked
// (Input), the results of SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 9989), and the
// verdict for each of them.
//
// Package core/mailauth/verify does the checks, and core/mailauth/dmarc has the rules of
// DMARC. A result never refuses a message; callers only state it. Decision page
// 0099-verdicts-are-those-of-amazon-ses.md says which result has which verdict.
package mailauth
