package ses

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/mailhelm/mailhelm/core/sending"
)

// kinds maps the provider's error codes to kinds of failure. Other codes are classified
// by the status of the response.
var kinds = map[string]sending.FailureKind{
	"NotFoundException": sending.NotFound,

	"TooManyRequestsException":        sending.Throttled,
	"LimitExceededException":          sending.Throttled,
	"ConcurrentModificationException": sending.Throttled,
	"ThrottlingException":             sending.Throttled,
	"Throttling":                      sending.Throttled,

	"BadRequestException":       sending.Invalid,
	"InvalidNextTokenException": sending.Invalid,
	"AlreadyExistsException":    sending.Invalid,
	"ConflictException":         sending.Invalid,
	"ValidationException":       sending.Invalid,
	"ValidationError":           sending.Invalid,
	"SerializationException":    sending.Invalid,

	"AccountSuspendedException":          sending.Rejected,
	"SendingPausedException":             sending.Rejected,
	"MailFromDomainNotVerifiedException": sending.Rejected,
	"MessageRejected":                    sending.Rejected,
}

// invalid returns the failure for a value that the provider is known to reject.
func invalid(text string) *sending.Failure {
	return &sending.Failure{Kind: sending.Invalid, Err: errors.New(text)}
}

// failureOf converts an error of the SDK into a *sending.Failure. The provider's text
// is kept only in the cause, which is for the log. nil stays nil.
func failureOf(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*sending.Failure](err); ok {
		return f
	}
	if ctx.Err() != nil {
		return &sending.Failure{Kind: sending.TimedOut, Err: fmt.Errorf("%w: %w", ctx.Err(), err)}
	}
	f := &sending.Failure{Kind: kindOf(err), Err: err}
	if f.Kind == sending.Throttled {
		f.RetryAfter = retryAfter(err)
	}
	return f
}

func kindOf(err error) sending.FailureKind {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		if kind, known := kinds[api.ErrorCode()]; known {
			return kind
		}
	}
	switch classifyAnswer(err).status {
	case http.StatusNotFound:
		if explains(err) {
			return sending.NotFound
		}
	case http.StatusBadRequest:
		if code(err) == "UnknownError" { // the SDK's code for a missing error code
			return sending.Invalid
		}
	case http.StatusTooManyRequests:
		return sending.Throttled
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return sending.TimedOut
	}
	_, missing := errors.AsType[smithy.InvalidParamsError](err) // detected before the request is sent
	if _, unwritable := errors.AsType[*smithy.SerializationError](err); missing || unwritable {
		return sending.Invalid
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return sending.TimedOut
	}
	return sending.Refused
}

// explains reports whether a 404 means that the object does not exist. The provider's
// errors have a message; a 404 without one comes from another server.
func explains(err error) bool {
	const none = "UnknownError" // the SDK's value for a missing code, and for a missing message
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() != "UnknownOperationException" && api.ErrorMessage() != none && api.ErrorMessage() != ""
}

// answer is the part of the response that arrived before the failure; the zero value
// when nothing arrived.
type answer struct {
	status int
	header http.Header
}

func classifyAnswer(err error) answer {
	e, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if !ok || e.Response == nil || e.Response.Response == nil {
		return answer{}
	}
	return answer{e.Response.StatusCode, e.Response.Header}
}

// retryAfter returns the wait that the response requests (RFC 9110 section 10.2.3, in
// seconds); zero without one.
func retryAfter(err error) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(classifyAnswer(err).header.Get("Retry-After")))
	if err != nil || seconds < 0 || seconds > int(time.Hour.Seconds()) {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// handedOver is failureOf for calls that must not be repeated. It returns TimedOut
// unless the error proves that the call had no effect. A broken connection, a partial
// response and a failure of the provider all leave the outcome unknown. A missing
// template or configuration set is Rejected.
func handedOver(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	failed := failureOf(ctx, err)
	f, ok := errors.AsType[*sending.Failure](failed)
	switch {
	case ok && f.Kind == sending.Refused && !hadNoEffect(err):
		return &sending.Failure{Kind: sending.TimedOut, Err: f.Err}
	case ok && f.Kind == sending.NotFound:
		return &sending.Failure{Kind: sending.Rejected, Err: f.Err}
	}
	return failed
}

// hadNoEffect reports whether the provider refused the call or was never reached.
func hadNoEffect(err error) bool {
	if status := classifyAnswer(err).status; status != 0 {
		return status >= 400 && status < 500
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		return operation.Op == "dial"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	_, sent := errors.AsType[*smithyhttp.RequestSendError](err)
	_, unread := errors.AsType[*smithy.DeserializationError](err)
	return !sent && !unread
}

// code returns the provider's error code, or "" for an error without one.
func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}
