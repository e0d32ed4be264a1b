package core

import "context"

// Transactor runs a function inside one database transaction. f receives the transaction in
// its context. Every store called with that context takes part, and a job enqueued with it
// is enqueued by the commit.
//
// An error from f rolls back and is returned unchanged. f may run more than once, because
// serialization failures are retried, so it must change nothing but the database.
type Transactor interface {
	InTx(ctx context.Context, f func(ctx context.Context) error) error
}

type snapshotKey struct{}

// Snapshot makes the next [Transactor] run a transaction whose reads all see one state of
// the database, without later commits of other transactions. A write that conflicts with
// that state is retried in a new transaction.
func Snapshot(ctx context.Context) context.Context {
	return context.WithValue(ctx, snapshotKey{}, true)
}

// WantsSnapshot reports whether ctx comes from [Snapshot].
func WantsSnapshot(ctx context.Context) bool {
	wants, _ := ctx.Value(snapshotKey{}).(bool)
	return wants
}
