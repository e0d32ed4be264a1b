package simulator

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	sqlite3 "modernc.org/sqlite/lib"
)

// The texts of the errors below appear only in the log. They must not contain email
// addresses.

func notFoundError(text string) error {
	return &sending.Failure{Kind: sending.NotFound, Err: errors.New("simulator: " + text)}
}

func invalid(text string) error {
	return &sending.Failure{Kind: sending.Invalid, Err: errors.New("simulator: " + text)}
}

func noAccount() error {
	return &sending.Failure{Kind: sending.NotConnected, Err: errors.New("simulator: no account was set up for this organization")}
}

func timedOut(cause error) error {
	return &sending.Failure{Kind: sending.TimedOut, Err: cause}
}

const lockedRetryAfter = time.Second

// failureOf converts an error of the SQLite file into a *sending.Failure. For nil it
// returns nil.
func failureOf(err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*sending.Failure](err); ok {
		return f
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), isCode(err, sqlite3.SQLITE_INTERRUPT):
		return timedOut(err)
	// only a read gets this error; a write waits for the lock until its deadline
	case isCode(err, sqlite3.SQLITE_BUSY):
		return &sending.Failure{Kind: sending.Throttled, RetryAfter: lockedRetryAfter, Err: err}
	}
	return &sending.Failure{Kind: sending.Refused, Err: err}
}
