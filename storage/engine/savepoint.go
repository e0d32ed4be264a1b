package engine

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core"
)

var (
	setSavepoint     = Register("set savepoint", `SAVEPOINT attempt`)
	releaseSavepoint = Register("release savepoint", `RELEASE SAVEPOINT attempt`)
	undoToSavepoint  = Register("undo to savepoint", `ROLLBACK TO SAVEPOINT attempt`)
)

// Attempt runs f as a part of the transaction of ctx that may fail: if f fails, its writes are
// undone and the transaction can continue. Attempt then returns the error of f, joined with
// the error in the parameter tolerated.
//
// Savepoints are two statements, and f rarely fails. So the first run of a transaction sets
// none. If f fails in it, Attempt returns an error after which the whole transaction runs
// again, and in that run Attempt sets savepoints.
//
// Three further kinds of errors are returned unchanged, and the transaction cannot continue
// after them. They are errors that require a retry of the whole transaction, the end of ctx,
// and an outage of the database. Outside of a transaction nothing is undone.
func (db *DB) Attempt(ctx context.Context, tolerated error, f func() error) error {
	t := db.transaction(ctx)
	if t != nil && t.savepoints {
		return db.attemptProtected(ctx, t, tolerated, f)
	}
	err := f()
	if err == nil || !mayContinue(ctx, err) {
		return err
	}
	if t == nil {
		return errors.Join(tolerated, err)
	}
	t.failed = unprotected{err}
	return t.failed
}

// unprotected is the error of a transaction that must run again with savepoints.
type unprotected struct{ error }

func (u unprotected) Unwrap() error { return u.error }

func isUnprotected(err error) bool {
	_, is := errors.AsType[unprotected](err)
	return is
}

// mayContinue reports whether a transaction may go on after the error of an attempt.
func mayContinue(ctx context.Context, err error) bool {
	return !retryable(err) && ctx.Err() == nil && core.AsError(err).Code != core.CodeTemporarilyUnavailable
}

// attemptProtected is Attempt at a savepoint.
func (db *DB) attemptProtected(ctx context.Context, t *transaction, tolerated error, f func() error) error {
	// Writes before the savepoint must not be undone.
	if _, err := db.runWaiting(ctx, t); err != nil {
		return err
	}
	if _, err := db.Exec(ctx, setSavepoint); err != nil {
		return err
	}
	err := f()
	if err == nil {
		_, err := db.Exec(ctx, releaseSavepoint)
		return err
	}
	if !mayContinue(ctx, err) {
		return err
	}
	t.waiting = nil
	for _, s := range []*Statement{undoToSavepoint, releaseSavepoint} {
		if _, errUndo := db.Exec(ctx, s); errUndo != nil {
			return errors.Join(err, errUndo)
		}
	}
	return errors.Join(tolerated, err)
}
