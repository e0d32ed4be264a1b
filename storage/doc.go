// Package storage opens the database with the stores of all domains. [Open] opens it, and
// [DB] has a method for each store, which constructs the store.
//
// Package engine provides the connections, transactions, statements and migrations, and the
// rules for SQL. Each domain of core that stores data has a subpackage of the same name
// with its statements and its store. Subpackages import engine, slots and membership, but
// no other subpackage that owns tables. A subpackage that needs data of another declares an
// interface, for which this package passes the store of the other. The migrations of all
// subpackages are in schema, in one order.
//
// Package bulk is an exception: it imports storage/contacts, which owns tables, because a
// write of a thousand contacts stores the same columns and choices as a write of one. DB
// has no methods for the stores of bulk. The caller constructs them, as in
// bulk.NewJobStore(db.DB), because an import of bulk here would exceed the repository's
// limit for import chains.
//
// DB has no methods for the stores of workflows for the same reason. The caller constructs
// them, as in workflows.New(db.DB).
//
// This package makes no decisions: it checks no permission, validates nothing and sets no
// default.
package storage
