package storage

import (
	"context"
	"errors"

	"github.com/lib/pq"
)

// SQLSTATEs of PostgreSQL that mean something to us.
const (
	uniqueViolation      = "23505"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	queryCanceled        = "57014"
)

func sqlState(err error) string {
	if e, ok := errors.AsType[*pq.Error](err); ok {
		return string(e.Code)
	}
	return ""
}

// retryable reports whether the same transaction may succeed when it runs again.
// A unique violation is among them: statements check for the taken name first,
// so they meet one only in a race, and see the winner the second time.
func retryable(err error) bool {
	switch sqlState(err) {
	case serializationFailure, deadlockDetected, uniqueViolation:
		return true
	}
	return false
}

// cause is err, or why the context ended when that is what made the call fail:
// the databases say it in their own ways, none of them the context's.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
