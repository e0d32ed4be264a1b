// Package channels owns channels, sending identities and tracking domains. A channel is a
// configuration set of the sending account, an identity is a domain or address from which
// the account may send. A tracking domain is the domain through which tracked links lead.
//
// A job copies channels, identities and tracking domains from the sending account, so that
// reads need no network. Another job checks whether the DNS records of tracking domains are
// published. The package sends no mail and changes nothing in the account.
package channels
