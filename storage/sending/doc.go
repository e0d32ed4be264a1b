// Package sending stores connections to sending accounts, with sealed secrets, and requests
// for production access.
package sending
