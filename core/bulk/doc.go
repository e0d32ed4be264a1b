// Package bulk writes many contacts: the operations contacts_bulk and contacts_bulk_get,
// the job that processes them, and imports of files. It also pushes the consent that these
// writes state to the sending account.
//
// Each row becomes a contacts.Plan, the same type that a write of a single contact uses, so
// that both follow the same rules. Unlike a single write, a row does not call the sending
// account. Its consent is stored as a push. A job (contact_pushes.go) later merges it with
// the account's consent and writes the result to the account.
//
// All rows are stored, in chunks, before the first one is processed. One transaction writes
// the contacts and the outcomes of a chunk, so that processing may be interrupted and
// continued.
package bulk
