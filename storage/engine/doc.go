// Package engine opens the database and runs the statements of the other packages in
// storage/. The database is SQLite (the default, one file) or PostgreSQL, with one SQL text
// for both.
//
// # What this package owns
//
// Connections ([Open], [Config]), transactions ([DB.InTx]), the schema's migrations
// ([DB.Migrate]), registered statements ([Register], [RegisterPoint]) and the functions
// that run them ([List], [Values], [One], [DB.Exec]), the stored form of times ([Time]),
// parameters with many rows ([JSONParameter]), notifications between processes
// ([DB.Listen]) and the job queue ([Jobs]).
//
// Each call uses the connections that are reserved for the lane of its context
// ([core.Lane]). A gate in front of each connection pool limits how long a call waits for a
// connection. An error by which the database refuses all calls becomes
// core.CodeTemporarilyUnavailable.
//
// # What it does not own
//
// It contains no domain logic. A statement belongs to the package that registers it, and so
// does a value that is kept during a transaction ([TxMemory]). It imports only package core
// and core/jobs, the interface of the queue. Its own statements are those for savepoints
// and for the write that detects a full disk.
//
// It never takes the time or an id from the database; the caller passes both. It opens no
// network connection except to the database.
//
// # Rules for every statement
//
//   - It is a registered [Statement] beside the function that uses it, so that
//     a test prepares every one on both engines.
//   - It is PostgreSQL text that SQLite also understands. The one exception is
//     a comment /*pg text*/, which is replaced by its text on PostgreSQL alone.
//   - Placeholders are $1..$n and appear in that order.
//   - Times are bigint microseconds ([Time]); JSON is text that is written and
//     read whole; many rows travel as one JSON parameter through json_each.
//   - It names org_id wherever the row belongs to an organization.
//
// # Size
//
// Queries, transactions, jobs, notifications and health are in one package because all of them
// use the connection pools with their gates and prepared statements. Divided, the packages
// would have to export these, and every store could pass them by.
package engine
