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

// Attempt runs f at a savepoint of the transaction of ctx. If f fails, Attempt rolls back
// to the savepoint, so that the transaction can continue. It then returns the error of f,
// joined with the error in the parameter tolerated.
//
// Three kinds of errors are returned unchanged, and the transaction cannot continue after
// them. They are errors that require a retry of the whole transaction, the end of ctx, and
// an outage of the database.
func (db *DB) Attempt(ctx context.Context, tolerated error, f func() error) error {
	t := db.transaction(ctx)
	if t != nil { // writes before the savepoint must not be undone
		if _, err := db.runWaiting(ctx, t); err != nil {
			return err
		}
	}
	if _, err := db.Exec(ctx, setSavepoint); err != nil {
		return err
	}
	err := f()
	if err == nil {
		_, err := db.Exec(ctx, releaseSavepoint)
		return err
	}
	if retryable(err) || ctx.Err() != nil || core.AsError(err).Code == core.CodeTemporarilyUnavailable {
		return err
	}
	if t != nil {
		t.waiting = nil
	}
	for _, s := range []*Statement{undoToSavepoint, releaseSavepoint} {
		if _, errUndo := db.Exec(ctx, s); errUndo != nil {
			return errors.Join(err, errUndo)
		}
	}
	return errors.Join(tolerated, err)
}
