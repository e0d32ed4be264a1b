// Package accounts prepares the sending accounts for the server and for the commands of an
// administrator. It creates the adapters of the providers and the contact list of a
// simulated account. It moves contact lists of SMTP accounts into the database. It also enqueues the jobs that copy an account's data into Mailhelm's
// database, for example after the connection to the account was changed.
//
// The package opens no database and listens on no address; package cmd/mailhelm/serve does.
package accounts
