// Package accounts wires the sending accounts: the adapters of the providers, the contact
// list of a simulated account, and the syncs that follow a change of an account. The
// server and the commands of an administrator share it.
//
// It opens no database and no listener; see cmd/mailhelm/serve.
package accounts
