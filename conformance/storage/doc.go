// Package storage tests through the exported stores what every supported database must do.
// It runs the same tests, such as those of access.Store, contacts.Store, replay.Store,
// core.Transactor and jobs.Queue, on SQLite and on PostgreSQL.
//
// Tests of one engine, or of unexported code, are in the storage packages themselves.
package storage
