// Package storage opens the database with the stores of all domains. [DB] is the table of
// contents of the rooms below this folder, and [Open] constructs them.
//
// Package engine provides the connections, transactions, statements and migrations, and
// the rules for SQL. Each domain of core has a room of the same name with its statements
// and its store. Rooms import the engine and what rooms share (slots, membership), and no
// other room that owns tables. A room that needs data of another declares an interface,
// which this package satisfies. The migrations are in schema, in one order for all rooms.
//
// Package bulk is the exception: it stands on contacts, because a write of a thousand
// contacts stores the same columns and choices as a write of one. DB does not hand out its
// stores; the wiring constructs them from the engine, as in bulk.NewJobStore(db.DB). One
// more level above the rooms would exceed the bound on chains of imports.
//
// This package makes no decisions: no permission, no validation, no default.
package storage
