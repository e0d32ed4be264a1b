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

// Attempt runs f inside the transaction of ctx so that the transaction outlives its
// failure: what f did is undone, and the failure comes back wrapped in tolerated. What
// the whole transaction has to be tried again for, the end of the caller's patience and
// that of the database come back as they are, and then the transaction is lost.
func (db *DB) Attempt(ctx context.Context, tolerated error, f func() error) error {
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
	for _, s := range []*Statement{undoToSavepoint, releaseSavepoint} {
		if _, errUndo := db.Exec(ctx, s); errUndo != nil {
			return errors.Join(err, errUndo)
		}
	}
	return errors.Join(tolerated, err)
}
