// Package storage opens the database with the stores of all domains: [DB] is the table of
// contents of the rooms below this folder, and [Open] constructs them.
//
// Package engine has the connections, transactions, statements and migrations, and the
// rules for SQL. Each domain of core has a room of the same name with its statements and
// its store. The rooms import the engine and no other room; one that needs the data of
// another asks through an interface that it declares, satisfied here. The migrations are in
// schema, in one order for all rooms.
//
// It decides nothing: no permission, no validation, no default.
package storage
