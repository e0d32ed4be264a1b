// Package accounts wires the sending accounts for the server and for the commands of an
// administrator. It has the adapters of the providers, the contact list of a simulated
// account, and the syncs that follow a change of an account.
//
// The package opens no database and listens on no address; package cmd/mailhelm/serve does.
package accounts
