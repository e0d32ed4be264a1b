// Package signing stores the keys that sign access tokens. It receives private keys only
// encrypted.
package signing
