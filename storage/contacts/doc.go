// Package contacts stores contacts: single reads and writes, pages, topic choices, stubs
// (contacts known only from activities), and visitor ids, which identify contacts on
// websites. It also stores the consent that a sync copies from the sending account.
//
// A write changes the contact record, its slots (indexed attribute values) and its topic
// choices in one transaction. It writes the record first, because that locks the contact's
// row. All statements that read or write whole records are generated from the fields of
// [Row]. Package storage/bulk uses the same columns to write many contacts.
package contacts
