// Package receiving manages the receiving domains of organizations: which DNS records they
// need, whether these are published, their webhook and addresses, and the log of their mail.
//
// Its folder routing publishes what receivers of mail must know of a domain, and finds the
// route of an address. Its folder delivery logs the mail of a domain and sends it to the
// webhook. Package core/inbound receives, judges and parses the mail.
package receiving
