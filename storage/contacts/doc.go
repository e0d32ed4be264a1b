// Package contacts stores contacts: single reads and writes, pages, their choices about
// topics, the mirror of consent that the sync maintains, stubs that activities name, and
// visitor ids.
//
// A write changes the record, the slots and the choices in one transaction. The record
// comes first, because its row is the lock on a contact. All statements that read or write
// whole records are generated from the fields of [Row]. Package bulk writes many contacts
// with the same columns.
package contacts
