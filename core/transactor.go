package core

import "context"

// Transactor runs a function inside one database transaction. The transaction
// travels in the context that f receives: every store called with that context
// takes part in it, and a job enqueued with it is enqueued with the commit.
//
// An error from f rolls back and is returned as it is. f may run more than once
// (serialization failures are retried), so it changes nothing but the database.
type Transactor interface {
	InTx(ctx context.Context, f func(ctx context.Context) error) error
}

type snapshotKey struct{}

// Snapshot asks the next [Transactor] for a transaction in which all reads see one
// state of the database, without what other transactions commit later. A write that
// cannot be had in that state is retried in a new transaction like every other.
func Snapshot(ctx context.Context) context.Context {
	return context.WithValue(ctx, snapshotKey{}, true)
}

// WantsSnapshot reports whether ctx comes from [Snapshot].
func WantsSnapshot(ctx context.Context) bool {
	wants, _ := ctx.Value(snapshotKey{}).(bool)
	return wants
}
