// Package sending stores connections to sending accounts, with encrypted secrets. It also
// stores requests to the provider for production access.
package sending
