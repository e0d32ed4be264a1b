// Package storage holds what every database that Mailhelm runs on promises to the
// domains, tested from outside: the contracts of access.Store, audience.Store,
// replay.Store, core.Transactor and jobs.Queue, on SQLite and on PostgreSQL with
// the same tests.
//
// What is about one engine, or about how storage is built, is tested in storage.
package storage
