package consent

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// failureOf returns the *sending.Failure for an error of the database, and nil for nil. If the
// database is away or overloaded, callers may try again: the failure is Throttled, or TimedOut
// for a write that began, because its outcome is unknown. sending.Unavailable then returns the
// error of the database itself, so callers get the same answer as for every other call.
func failureOf(err error, writes bool) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*sending.Failure](err); ok {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &sending.Failure{Kind: sending.TimedOut, Err: err}
	}
	if e, ok := errors.AsType[*core.Error](err); ok {
		switch {
		case e.Code == core.CodeOverloaded, e.Code == core.CodeTemporarilyUnavailable && !writes:
			return &sending.Failure{Kind: sending.Throttled, RetryAfter: e.RetryAfter, Err: err}
		case e.Code == core.CodeTemporarilyUnavailable:
			return &sending.Failure{Kind: sending.TimedOut, RetryAfter: e.RetryAfter, Err: err}
		}
	}
	return &sending.Failure{Kind: sending.Refused, Err: err}
}

// noList returns the failure of a call that needs a contact list, for an organization without
// one.
func noList() error {
	return &sending.Failure{Kind: sending.NotFound, Err: errors.New("consent: the organization has no contact list")}
}

// noContact returns the failure for an address that is not on the contact list.
func noContact() error {
	return &sending.Failure{Kind: sending.NotFound, Err: errors.New("consent: the address is not on the contact list")}
}
