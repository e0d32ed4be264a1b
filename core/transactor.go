package core

import "context"

// Transactor runs the function f inside one database transaction. f receives the
// transaction in its context. Every store that f calls with that context takes part. A job
// that f enqueues with that context starts only after the commit.
//
// If f fails, the transaction is rolled back and the error returned unchanged. f may run
// more than once, because serialization failures are retried, so it must change nothing but
// the database.
type Transactor interface {
	InTx(ctx context.Context, f func(ctx context.Context) error) error
}

type snapshotKey struct{}

// Snapshot returns a context in which a [Transactor] runs a transaction whose reads all see
// one state of the database, without later commits of other transactions. If a write
// conflicts with that state, the transaction is retried.
func Snapshot(ctx context.Context) context.Context {
	return context.WithValue(ctx, snapshotKey{}, true)
}

// WantsSnapshot reports whether ctx was derived from [Snapshot].
func WantsSnapshot(ctx context.Context) bool {
	wants, _ := ctx.Value(snapshotKey{}).(bool)
	return wants
}
