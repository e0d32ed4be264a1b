// Package channels owns channels, identities and tracking domains. A background sync
// copies them from the sending account, so that reads need no network. Another job
// checks whether the DNS records of tracking domains are published. The package sends no
// mail and changes nothing in the account.
package channels
