// Package contacts stores contacts: single reads and writes, pages, topic choices, stubs
// (contacts known only from activities), and visitor ids. It also stores the copy of the
// account's consent that the sync maintains.
//
// A write changes the contact record, its slots (indexed attribute values) and its topic
// choices in one transaction. The record comes first, because its row is the lock on the
// contact. All statements that read or write whole records are generated from the fields of
// [Row]. Package storage/bulk uses the same columns to write many contacts.
package contacts
