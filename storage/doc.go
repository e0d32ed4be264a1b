// Package storage opens the database with the stores of all domains. [DB] is the table of
// contents of the rooms below this folder, and [Open] constructs them.
//
// Package engine provides the connections, transactions, statements and migrations, and
// the rules for SQL. Each domain of core has a room of the same name with its statements
// and its store. Rooms import the engine and no other room that owns tables. A room that
// needs data of another declares an interface, which this package satisfies. The
// migrations are in schema, in one order for all rooms.
//
// This package makes no decisions: no permission, no validation, no default.
package storage
