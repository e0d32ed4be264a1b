// Package signing owns the keys that sign access tokens: their rotation, what of them is
// published, and how a process learns of changes. It also owns the master key, which
// seals everything that the database must keep and must not be able to read.
//
// It issues and verifies no tokens: oauth does.
package signing
