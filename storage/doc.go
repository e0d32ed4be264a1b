// Package storage remembers: organizations and their credentials, the audience,
// replay records, jobs. It keeps them in SQLite (the default, one file) or in
// PostgreSQL, with one SQL text for both.
//
// # What this package owns
//
// The connection ([Open], [Config]), the schema and its migrations
// ([DB.Migrate]), transactions ([DB.InTx]), the stores that the domains declare
// ([DB.Access], [DB.Keys], [DB.Grants], [DB.Sessions], [DB.Members], [DB.Audience],
// [DB.Replay]) and the runner of jobs ([Jobs]).
//
// Work asks the database on a lane of its context ([core.Lane]), and each lane has
// connections of its own, behind gates that bound how long anybody waits for one.
// What says that the database takes no calls becomes core.CodeTemporarilyUnavailable.
//
// # What it does not
//
// It decides nothing: no permission, no validation, no default. It never asks
// the database for the time or for an id; both come with the call. It reaches no
// network but the database's.
//
// # Rules that every statement keeps
//
//   - It is a registered [Statement] beside the function that uses it, so that
//     a test prepares every one on both engines.
//   - It is PostgreSQL text that SQLite also understands. The one exception is
//     the slot /*pg ...*/, which opens on PostgreSQL alone.
//   - Placeholders are $1..$n and appear in that order.
//   - Times are bigint microseconds ([Time]); JSON is text that is written and
//     read whole; many rows travel as one JSON parameter through json_each.
//   - It names org_id, wherever the row belongs to an organization.
package storage
