// Package storage opens the database with the stores of all domains. [DB] is the table of
// contents of the rooms below this folder, and [Open] constructs them.
//
// Package engine provides the connections, transactions, statements and migrations, and
// the rules for SQL. Each domain of core has a room of the same name with its statements
// and its store. Rooms import the engine and no other room that owns tables. A room that
// needs data of another declares an interface, which this package satisfies. The
// migrations are in schema, in one order for all rooms.
//
// The stores of contacts, attributes, lists, topics and bulk writes are in this package and
// make it large. A write of one contact changes its row, slots, memberships, their log and
// what the account has yet to learn, in one transaction and with the same statements for
// one contact and for a thousand. Each has a store type of its own.
//
// This package makes no decisions: no permission, no validation, no default.
package storage
