// Package channels is what mail is sent through and from: channels, identities and
// tracking domains. A background sync follows the sending account, so that reading
// them uses no network; another job looks whether the DNS records of tracking domains
// are published. It does not send, and it decides nothing in the account.
package channels
