// Package bulk writes many contacts: the operations contacts_bulk and contacts_bulk_get,
// the job that processes them, and imports of files. It also pushes the consent that
// these writes state to the sending account.
//
// A row is a contacts.Plan, as a single write is, so that both follow the same rules.
// Unlike a single write, a row calls no account: its consent waits as a push, and
// pushes.go joins it to what the account has by then.
//
// Rows are stored in chunks with their job. One transaction writes the contacts and the
// outcomes of a chunk, so that a job may be interrupted and repeated.
package bulk
