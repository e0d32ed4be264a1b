// Package accounts prepares the sending accounts for the server and for the commands of an
// administrator. It creates the adapters of the providers and the contact list of a
// simulated account. It also enqueues the jobs that read an account again after a change.
//
// The package opens no database and listens on no address; package cmd/mailhelm/serve does.
package accounts
