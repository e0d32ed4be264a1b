package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a refused or failed call. Message and Next are shown to callers, so they must
// contain nothing internal. Err is only for the log.
type Error struct {
	Code Code
	// Message says what was wrong, with the caller's own value where that helps.
	Message string
	// Next says what the caller can do. If it is "", the remedy that is defined for the
	// error's code applies.
	Next string
	// Status is the HTTP status of the answer; 0 means the usual status of the code. It is
	// set for a code with a second status, such as 504 for an upstream that timed out.
	Status int
	// Fields lists the faults of the members of the request.
	Fields []FieldError
	// RetryAfter is how long to wait before a retry; 0 means that no time is given.
	RetryAfter time.Duration
	// Resource is the kind of record that was not found (not_found).
	Resource string
	// Scope is the scope that is missing (invalid_scope, missing_scope).
	Scope Scope
	// Extra has further members of the problem document, by JSON name, for codes that define
	// some.
	Extra map[string]any
	// Call is a call of another operation that corrects the fault, or nil. Only agents
	// receive it: a problem document over REST does not contain it.
	Call *NextCall
	// Err is the cause. It is logged and never leaves the process.
	Err error
}

// FieldError says what is wrong with one member of a request. Field is the member's path,
// with dots between the names: "attributes.plan". "" is the whole request.
type FieldError struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// NextCall is a call that the caller can make next to correct the fault of an [Error].
type NextCall struct {
	Operation string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// WithCall sets e.Call to a call of the operation and returns e. nil arguments become {}.
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

// HTTPStatus returns e.Status. If e.Status is 0, it returns the HTTP status that belongs to
// e.Code.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Code.Info().Status
}

// WithNext sets e.Next and returns e.
func (e *Error) WithNext(next string) *Error {
	e.Next = next
	return e
}

// NextStep returns e.Next. If e.Next is "", it returns the remedy that is defined for the
// error's code.
func (e *Error) NextStep() string {
	if e.Next != "" {
		return e.Next
	}
	return e.Code.Info().Remedy
}

// The constructors below are for errors that several operations return.

// MissingScope returns the error for an argument that needs a scope beyond those of the
// operation. Over REST its code is invalid_scope. A tool returns missing_scope in its
// result and not HTTP 403. After a 403, clients would request a token with more scopes,
// although the agent can omit the argument.
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

// Invalid returns validation_failed for one member of the request.
func Invalid(field, reason string) *Error {
	return InvalidFields(FieldError{Field: field, Reason: reason})
}

// namedFaults is the maximum number of faults that the message of [InvalidFields] names, so
// that an agent that reads only the message can correct several. The member `errors` of the
// problem document lists up to maxFieldErrors.
const namedFaults = 3

// InvalidFields returns validation_failed for several members of the request.
func InvalidFields(fields ...FieldError) *Error {
	if len(fields) == 0 {
		return &Error{Code: CodeValidationFailed, Message: "The request is not valid."}
	}
	var sentences []string
	for _, f := range fields[:min(len(fields), namedFaults)] {
		sentences = append(sentences, sentence(subject(f.Field)+" "+f.Reason))
	}
	if more := len(fields) - namedFaults; more > 0 {
		sentences = append(sentences, fmt.Sprintf("More faults: %d.", more))
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

// NotFound returns not_found for a kind of record, such as "contact" or "list".
func NotFound(resource string) *Error {
	return &Error{Code: CodeNotFound, Message: "No such " + resource + " in this organization.", Resource: resource}
}

// IsNotFound reports whether err is an [Error] with the code not_found.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == CodeNotFound
}

// IsConflict reports whether err is an [Error] with the code conflict.
func IsConflict(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == CodeConflict
}

// Conflict returns an error with the code conflict, a message and a next step.
func Conflict(message, next string) *Error {
	return &Error{Code: CodeConflict, Message: message, Next: next}
}

// refusalOf returns an error with a code that only tools return. Over REST its code is
// conflict.
func refusalOf(c *Call, code Code, message, next string) *Error {
	if c.Surface != Agent {
		code = CodeConflict
	}
	return &Error{Code: code, Message: message, Next: next}
}

// PullRequestRequired returns the error for a write to a record that comes from the
// connected repository, if no pull request can be opened. noun names the kind of record,
// such as "template".
func PullRequestRequired(c *Call, noun string) *Error {
	return refusalOf(c, CodePullRequestRequired,
		"This organization's connected repository has the "+noun+"s, which change by pull request, and none can be opened from here.",
		"Open the pull request in the repository and let it sync.")
}

// StaleContentHash returns the error for a change of content that is not the stored
// content. base is the hash that the caller sent, stored the hash of the stored content;
// each is "" if there is none.
func StaleContentHash(c *Call, message, next, base, stored string) *Error {
	e := refusalOf(c, CodeStaleContentHash, message, next)
	e.Extra = map[string]any{"base_content_hash": nilIfEmpty(base), "content_hash": nilIfEmpty(stored)}
	return e
}

// nilIfEmpty returns nil for "", which is null in JSON.
func nilIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// InvalidKey returns invalid_key, for a refused credential. The cause is for the log. The
// message is the same for each cause, so that a guess at a credential reveals nothing.
func InvalidKey(cause error) *Error {
	return &Error{
		Code:    CodeInvalidKey,
		Message: "The request carries no credential that this host accepts: it is missing, malformed, unknown, expired or revoked, or meant for another host.",
		Err:     cause,
	}
}

// Internal returns internal_error with err as its cause. Callers do not see the cause.
func Internal(err error) *Error {
	return &Error{Code: CodeInternalError, Message: "Something failed on our side.", Err: err}
}

// Overloaded returns the error overloaded: the call waited too long for the database or for
// its turn among expensive reads, or too many such reads were waiting already. The call
// stored nothing.
func Overloaded(retryAfter time.Duration) *Error {
	return &Error{Code: CodeOverloaded, Message: "Too many calls are waiting, so this one was refused. Nothing was stored.", RetryAfter: retryAfter}
}

// storageRetry is the RetryAfter of an error of the storage: a database restarts within
// seconds.
const storageRetry = 5 * time.Second

// TemporarilyUnavailable returns temporarily_unavailable with err as its cause. Callers do
// not see the cause.
func TemporarilyUnavailable(err error) *Error {
	return &Error{
		Code: CodeTemporarilyUnavailable, RetryAfter: storageRetry, Err: err,
		Message: "Mailhelm's own storage cannot process the call now.",
	}
}

// IsFault reports whether Mailhelm and not the caller caused the failure. The cause of such
// a failure should be logged as an error.
func (e *Error) IsFault() bool {
	return e.Code == CodeInternalError || e.Code == CodeTemporarilyUnavailable
}

// IsOutage reports whether a call failed because the database refused it or did not answer in
// time. The same call may succeed later, and its transaction may have been committed.
func IsOutage(err error) bool {
	if err == nil {
		return false
	}
	code := AsError(err).Code
	return code == CodeTemporarilyUnavailable || code == CodeOverloaded || errors.Is(err, context.DeadlineExceeded)
}

// IsCallerGone reports whether err is a server error that results from the caller closing
// the connection. The work was then cancelled, and neither side is at fault.
func IsCallerGone(ctx context.Context, err error) bool {
	return err != nil && errors.Is(ctx.Err(), context.Canceled) && AsError(err).HTTPStatus() >= 500
}

// FieldsOf returns the faults of the members of a request that an error lists, nil for none.
func FieldsOf(err error) []FieldError {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fields
	}
	return nil
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
