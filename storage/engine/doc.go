// Package engine provides the rooms of storage with a database: SQLite (the default,
// one file) or PostgreSQL, with one SQL text for both.
//
// # What this package owns
//
// Connections ([Open], [Config]) with their lanes and gates, transactions ([DB.InTx]),
// the schema's migrations ([DB.Migrate]), registered statements ([Register],
// [RegisterPoint]) and the functions that run them ([List], [Values], [One], [DB.Exec]),
// the stored form of times ([Time]), parameters with many rows ([JSONParameter]),
// notifications between processes ([DB.Listen]) and the queue of jobs ([Jobs]).
//
// Work uses the connections of the lane of its context ([core.Lane]). Gates bound how long
// it waits for one. An error by which the database refuses all calls becomes
// core.CodeTemporarilyUnavailable.
//
// # What it does not
//
// It contains no domain: a statement belongs to the room that registers it, and so does a
// value that lasts for a transaction ([TxMemory]). Of core it imports the vocabulary and
// core/jobs, the interface of the queue. Its only statements are those of savepoints and
// of the probe that notices a full disk.
//
// It never takes the time or an id from the database; the caller passes both. It
// opens no network connection except to the database.
//
// # Rules for every statement
//
//   - It is a registered [Statement] beside the function that uses it, so that
//     a test prepares every one on both engines.
//   - It is PostgreSQL text that SQLite also understands. The one exception is
//     the slot /*pg ...*/, which opens on PostgreSQL alone.
//   - Placeholders are $1..$n and appear in that order.
//   - Times are bigint microseconds ([Time]); JSON is text that is written and
//     read whole; many rows travel as one JSON parameter through json_each.
//   - It names org_id wherever the row belongs to an organization.
package engine
