// Package unsubscribe tests the links with which recipients of mail unsubscribe, against the
// whole product: what the pages change, what REST and the sending account then say, and what
// happens while the account cannot be reached.
package unsubscribe
