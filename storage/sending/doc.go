// Package sending stores connections to sending accounts, with encrypted secrets. It also
// stores requests to the provider for production access, and how the latest syncs with the
// accounts ended.
package sending
