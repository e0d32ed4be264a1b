// Package signing owns the keys that sign access tokens: their rotation, the published
// public keys, and how a process learns of changes. It also owns the master key. That key
// encrypts values which the database must store but must not be able to read.
//
// It issues and verifies no tokens: oauth does.
package signing
