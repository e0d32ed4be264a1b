package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a refusal or a failure. Callers see Message and Next, which therefore hold
// nothing internal; Err is only for the log.
type Error struct {
	Code Code
	// Message says what was wrong, with the caller's own value where that helps.
	Message string
	// Next says what to do. "" means the catalogue's remedy.
	Next string
	// Status replaces the catalogue's status where one code has two: 504 for an
	// upstream that timed out. Zero means the catalogue's.
	Status int
	// Fields lists the faults of the members of the request.
	Fields []FieldError
	// RetryAfter is how long to wait before a retry; zero says nothing.
	RetryAfter time.Duration
	// Resource is the kind of record that was not found (not_found).
	Resource string
	// Scope is the scope that is missing (invalid_scope, missing_scope).
	Scope Scope
	// Extra holds members that belong to one code, by their wire name.
	Extra map[string]any
	// Call is the call of another operation that repairs the fault, or nil. Only agents get
	// it: a problem document over REST does not have it.
	Call *NextCall
	// Err is the cause. It is logged and never leaves the process.
	Err error
}

// FieldError says what is wrong with one member of a request. Field is the
// member's path with dots, "attributes.plan"; the whole body is "".
type FieldError struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// NextCall is a call that a refused caller can make next.
type NextCall struct {
	Operation string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// WithCall sets the call that repairs the fault and returns e. Without arguments it sends
// {}.
func (e *Error) WithCall(operation string, arguments map[string]any) *Error {
	if arguments == nil {
		arguments = map[string]any{}
	}
	e.Call = &NextCall{Operation: operation, Arguments: arguments}
	return e
}

// Error returns the text for the log.
func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Message
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// HTTPStatus returns the HTTP status of the error.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Code.Info().Status
}

// WithNext sets the next step and returns e.
func (e *Error) WithNext(next string) *Error {
	e.Next = next
	return e
}

// NextStep returns the error's own next step, or the catalogue's remedy.
func (e *Error) NextStep() string {
	if e.Next != "" {
		return e.Next
	}
	return e.Code.Info().Remedy
}

// The constructors below are the refusals that several tasks give.

// MissingScope refuses an argument that needs a scope beyond those of the operation. Over
// REST the code is invalid_scope. A tool fails with missing_scope in its result instead of
// HTTP 403. With 403, clients would ask for a token with more scopes, although the agent can
// leave the argument out.
func MissingScope(c *Call, argument string, scope Scope) *Error {
	code := CodeInvalidScope
	if c.Surface == Agent {
		code = CodeMissingScope
	}
	return &Error{
		Code: code, Scope: scope,
		Message: "`" + argument + "` needs the scope `" + string(scope) + "`, which this credential lacks.",
		Next:    "Leave `" + argument + "` out, or use a credential with that scope.",
	}
}

// Invalid returns validation_failed for one field.
func Invalid(field, reason string) *Error {
	return InvalidFields(FieldError{Field: field, Reason: reason})
}

// namedFaults is how many of several faults the message names, since some agents read only
// the message. The member `errors` has all of them.
const namedFaults = 3

// InvalidFields returns validation_failed for several fields.
func InvalidFields(fields ...FieldError) *Error {
	if len(fields) == 0 {
		return &Error{Code: CodeValidationFailed, Message: "The request is not valid."}
	}
	var sentences []string
	for _, f := range fields[:min(len(fields), namedFaults)] {
		sentences = append(sentences, sentence(subject(f.Field)+" "+f.Reason))
	}
	if more := len(fields) - namedFaults; more > 0 {
		sentences = append(sentences, fmt.Sprintf("There is more to correct: %d.", more))
	}
	return &Error{Code: CodeValidationFailed, Message: strings.Join(sentences, " "), Fields: fields}
}

// sentence appends a full stop if the text has no closing punctuation.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

func subject(field string) string {
	if field == "" {
		return "The request"
	}
	return "`" + field + "`"
}

// NotFound returns not_found for a kind of record: "contact", "list".
func NotFound(resource string) *Error {
	return &Error{Code: CodeNotFound, Message: "No such " + resource + " in this organization.", Resource: resource}
}

// IsNotFound reports whether err is not_found.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == CodeNotFound
}

// IsConflict reports whether err is conflict.
func IsConflict(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == CodeConflict
}

// Conflict returns conflict with a message and a next step.
func Conflict(message, next string) *Error {
	return &Error{Code: CodeConflict, Message: message, Next: next}
}

// Internal returns internal_error around a cause that the caller must not see.
func Internal(err error) *Error {
	return &Error{Code: CodeInternalError, Message: "Something failed on our side.", Err: err}
}

// Overloaded returns overloaded: the call waited as long as it may, and did nothing.
func Overloaded(retryAfter time.Duration) *Error {
	return &Error{Code: CodeOverloaded, Message: "Too many calls wait to be done, so this one was turned away. Nothing was stored.", RetryAfter: retryAfter}
}

// storageRetry is when to retry after storage failed: a restart of a database takes some
// seconds.
const storageRetry = 5 * time.Second

// TemporarilyUnavailable returns temporarily_unavailable around the cause, which the caller
// must not see.
func TemporarilyUnavailable(err error) *Error {
	return &Error{
		Code: CodeTemporarilyUnavailable, RetryAfter: storageRetry, Err: err,
		Message: "Mailhelm's own storage does not take the call just now.",
	}
}

// IsFault reports whether the failure is Mailhelm's own, so that its cause belongs in
// the log.
func (e *Error) IsFault() bool {
	return e.Code == CodeInternalError || e.Code == CodeTemporarilyUnavailable
}

// IsCallerGone reports whether the caller left and err is a consequence: the work was then
// cancelled, and neither side is at fault.
func IsCallerGone(ctx context.Context, err error) bool {
	return err != nil && errors.Is(ctx.Err(), context.Canceled) && AsError(err).HTTPStatus() >= 500
}

// AsError returns err as a *Error. An error of another type becomes internal_error with err
// as its cause. nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Internal(err)
}
