// Package signing manages the keys that sign access tokens: their rotation, the published
// public keys, and how a process learns of changed keys. It also manages the master key,
// which encrypts values so that a copy of the database does not reveal them.
//
// It issues and verifies no tokens; package oauth does that.
package signing
