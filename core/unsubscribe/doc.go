// Package unsubscribe owns the links in mail with which recipients unsubscribe and choose
// what they receive, and the effect of these choices.
//
//   - [Links] makes the link of each recipient and its List-Unsubscribe headers (RFC 8058),
//     and parses links. A link has no email address, and does not expire.
//   - [Unsubscribe] reads what a recipient receives, and records the recipient's choices
//     through package core/contacts.
//
// Package rest/unsubscribe has the pages behind the links. Senders of marketing mail call
// [Links.For].
package unsubscribe
