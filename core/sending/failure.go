package sending

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// FailureKind says what became of a call to the account.
type FailureKind string

// The kinds of failure.
const (
	// NotFound: the account has no such thing. Nothing is wrong with the account.
	NotFound FailureKind = "not_found"
	// NotConnected: the organization has no account.
	NotConnected FailureKind = "not_connected"
	// Refused: the account is unreachable, suspended, or rejects our credentials.
	Refused FailureKind = "refused"
	// Throttled: the account asks us to slow down. The call had no effect.
	Throttled FailureKind = "throttled"
	// Invalid: the account rejects a value of the call, such as a topic it does not
	// have. The call had no effect, and repeating it will not help.
	Invalid FailureKind = "invalid"
	// Full: the account holds no more of such things. The call had no effect.
	Full FailureKind = "full"
	// Rejected: the account will not send this message, because of its sender, its
	// content or the account's own state. Nothing is wrong with the connection.
	Rejected FailureKind = "rejected"
	// Unsupported: this kind of account cannot do it at all.
	Unsupported FailureKind = "unsupported"
	// TimedOut: no answer before the deadline. Whether a write took effect is unknown.
	TimedOut FailureKind = "timed_out"
)

// Failure is how every call of the port fails.
type Failure struct {
	Kind       FailureKind
	RetryAfter time.Duration // how long the account asks us to wait; zero when it does not say
	Err        error         // the cause, for the log alone
}

const (
	maxCause        = 1000 // bytes of a cause in the log
	maxCauseScanned = 4 * maxCause
)

// addressesInCauses are addresses as they stand in a provider's sentences, and in
// the URLs of calls about a person.
var addressesInCauses = regexp.MustCompile(`[^\s"'<>()/=?&,;:]+(@|%40)[^\s"'<>()/=?&,;:]+`)

// Error is the text for the log. Whose addresses the cause names is masked in it: a
// provider repeats in its refusals what it was asked about.
func (f *Failure) Error() string {
	cause := "no cause"
	if f.Err != nil {
		cause = clipped(f.Err.Error(), maxCauseScanned)
	}
	cause = addressesInCauses.ReplaceAllStringFunc(cause, func(found string) string {
		return core.MaskAddress(strings.Replace(found, "%40", "@", 1))
	})
	return fmt.Sprintf("sending account: %s: %s", f.Kind, clipped(cause, maxCause))
}

func clipped(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// Unwrap gives the cause to errors.Is and errors.As.
func (f *Failure) Unwrap() error { return f.Err }

// IsNotFound reports whether the account answered that there is no such thing.
func IsNotFound(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && f.Kind == NotFound
}

// IsAbsent reports whether the account, or there being none, answered that there
// is no such thing.
func IsAbsent(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && (f.Kind == NotFound || f.Kind == NotConnected)
}

// IsInvalid reports whether the account rejected a value of the call.
func IsInvalid(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && f.Kind == Invalid
}

const defaultRetryAfter = 5 * time.Second

// Unavailable turns a failure of the account into the error that callers see:
// upstream_unavailable with 503, or with 504 when the outcome is unknown,
// validation_failed when the account rejects a value or is full, and conflict when it will not
// send a message or cannot do such a thing at all. The underlying text stays in the
// log. nil stays nil.
func Unavailable(err error) error {
	if err == nil {
		return nil
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
		return refused(f.Kind, err)
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

// refused is for what no waiting mends: the account answered, and it is the
// caller's to ask for something else.
func refused(kind FailureKind, cause error) *core.Error {
	e := core.Invalid("", "holds a value that the connected sending account does not accept")
	switch kind {
	case Full:
		e = core.Invalid("", "asks for more than the connected sending account has room for").
			WithNext("Remove one that is no longer needed, then repeat the call.")
	case Rejected:
		e = core.Conflict("The connected sending account will not send this message.",
			"Check that its sender is verified, that the account may send to its recipients, and what the message holds.")
	case Unsupported:
		e = core.Conflict("This kind of sending account cannot do that.", "Connect an account that can, or do without it.")
	}
	e.Err = cause
	return e
}
