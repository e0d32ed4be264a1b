package sending

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// FailureKind is the reason why a call to a sending account failed.
type FailureKind string

// The kinds of failure.
const (
	// NotFound means that the account does not have the requested object, such as a contact
	// or a template. The account itself works.
	NotFound FailureKind = "not_found"
	// NotConnected means that the organization has no sending account.
	NotConnected FailureKind = "not_connected"
	// Refused means that the account is unreachable or suspended, or rejects Mailhelm's
	// credentials.
	Refused FailureKind = "refused"
	// Throttled means that the account limits the rate of calls. The call had no effect.
	Throttled FailureKind = "throttled"
	// Invalid means that the account rejects a value of the call, such as an unknown topic.
	// The call had no effect and a retry fails too.
	Invalid FailureKind = "invalid"
	// Full means that the account has reached its maximum number of objects of one kind,
	// such as topics. The call had no effect.
	Full FailureKind = "full"
	// Rejected means that the account does not send this message, because of its sender, its
	// content or the account's state. The connection to the account works.
	Rejected FailureKind = "rejected"
	// Unsupported means that this kind of account does not have the called operation.
	Unsupported FailureKind = "unsupported"
	// TimedOut means that the account did not answer before the deadline. Whether a write
	// took effect is unknown.
	TimedOut FailureKind = "timed_out"
)

// Failure is the error of every failed call to a sending account.
type Failure struct {
	Kind       FailureKind
	RetryAfter time.Duration // how long the account asks callers to wait; zero if the account gave no time
	Err        error         // the cause; it is only logged
}

const (
	maxCause        = 1000 // maximum length of a cause in the log, in bytes
	maxCauseScanned = 4 * maxCause
)

// addressesInCauses matches email addresses in error messages of the provider and in
// request URLs, where @ may be %40.
var addressesInCauses = regexp.MustCompile(`[^\s"'<>()/=?&,;:]+(@|%40)[^\s"'<>()/=?&,;:]+`)

// Error returns the text for the log. It masks email addresses in the cause, because the
// provider's error messages repeat values of the call.
func (f *Failure) Error() string {
	cause := "no cause"
	if f.Err != nil {
		cause = clip(f.Err.Error(), maxCauseScanned)
	}
	cause = addressesInCauses.ReplaceAllStringFunc(cause, func(found string) string {
		return core.MaskAddress(strings.Replace(found, "%40", "@", 1))
	})
	return fmt.Sprintf("sending account: %s: %s", f.Kind, clip(cause, maxCause))
}

func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// Unwrap returns the cause of the failure, for errors.Is and errors.As.
func (f *Failure) Unwrap() error { return f.Err }

// IsNotFound reports whether err is a *Failure of kind NotFound.
func IsNotFound(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && f.Kind == NotFound
}

// IsAbsent reports whether err means that the requested object or the organization's whole
// account does not exist.
func IsAbsent(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && (f.Kind == NotFound || f.Kind == NotConnected)
}

// IsUnsupported reports whether err is a *Failure of kind Unsupported.
func IsUnsupported(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && f.Kind == Unsupported
}

// IsInvalid reports whether err is a *Failure of kind Invalid.
func IsInvalid(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && f.Kind == Invalid
}

// IsRefusedObject reports whether err is a *Failure because of the object in the call: the
// account does not accept it, is full or does not support it. Calls about other objects may
// succeed at the same time.
func IsRefusedObject(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && (f.Kind == Invalid || f.Kind == Full || f.Kind == Rejected || f.Kind == Unsupported)
}

const defaultRetryAfter = 5 * time.Second

// Unavailable converts a *Failure into the error that API callers get. It returns
// validation_failed if the account rejects a value or is full, and conflict if the account
// does not send the message or does not support the operation. For other errors it returns
// upstream_unavailable, with status 504 if the outcome is unknown, else with status 503.
//
// If the database is away or overloaded, from which the connection and the consent of SMTP
// accounts are read, it returns the error of the database, as every other call does.
//
// The text of the cause appears only in the log. For nil it returns nil.
func Unavailable(err error) error {
	if err == nil {
		return nil
	}
	if own := databaseError(err); own != nil {
		return own
	}
	e := &core.Error{
		Code: core.CodeUpstreamUnavailable, RetryAfter: defaultRetryAfter, Err: err,
		Message: "The connected sending account refused the call.",
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return e
	}
	if f.RetryAfter > 0 {
		e.RetryAfter = f.RetryAfter
	}
	switch f.Kind {
	case Invalid, Full, Rejected, Unsupported:
		return requestError(f.Kind, err)
	case NotConnected:
		e.Message = "No sending account is connected to this organization."
		e.Next = "Connect a sending account with `mailhelm admin account connect` or in the dashboard under Sending account, then repeat the call."
	case Throttled:
		e.Message = "The connected sending account is throttling calls."
	case TimedOut:
		e.Status = 504
		e.Message = "The connected sending account did not answer in time; whether the call took effect is unknown."
	}
	return e
}

// databaseError returns the error in err that says that the database is away or overloaded, or
// nil.
func databaseError(err error) *core.Error {
	e, ok := errors.AsType[*core.Error](err)
	if ok && (e.Code == core.CodeTemporarilyUnavailable || e.Code == core.CodeOverloaded) {
		return e
	}
	return nil
}

// requestError returns the API error for a kind of failure that would occur again if the
// caller repeated the request, such as Full, Rejected or Unsupported.
func requestError(kind FailureKind, cause error) *core.Error {
	e := core.Invalid("", "has a value that the connected sending account does not accept")
	switch kind {
	case Full:
		e = core.Invalid("", "exceeds the number of such objects that the connected sending account allows").
			WithNext("Delete one that is no longer needed, then repeat the call.")
	case Rejected:
		e = core.Conflict("The connected sending account refused to send this message.",
			"Check that its sender is verified, that the account may send to its recipients, and that the content is allowed.")
	case Unsupported:
		e = core.Conflict("This kind of sending account does not support the operation.", "Connect an account that supports it, or do not use the operation.")
	}
	e.Err = cause
	return e
}
