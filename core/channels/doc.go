// Package channels is what mail is sent through and from: channels, identities and tracking domains. An// background sync follows the sending account.
package channels
