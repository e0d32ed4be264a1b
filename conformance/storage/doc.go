// Package storage tests what every supported database must do for the domains, from
// outside. It runs the same tests of access.Store, contacts.Store, replay.Store,
// core.Transactor and jobs.Queue on SQLite and on PostgreSQL.
//
// Tests about one engine, or about the implementation of storage, are in storage.
package storage
