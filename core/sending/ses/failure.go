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

// kinds maps the error codes of SES to kinds of failure. For other codes, kindOf uses the
// status of the response.
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

// invalid returns a failure of kind Invalid, for a value that SES would reject.
func invalid(text string) *sending.Failure {
	return &sending.Failure{Kind: sending.Invalid, Err: errors.New(text)}
}

// failureOf converts an error of the AWS SDK into a *sending.Failure. The text of SES
// appears only in the cause, which is logged and not shown to API callers. For nil it
// returns nil.
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
		if code(err) == "UnknownError" { // the SDK uses this code if the response has no error code
			return sending.Invalid
		}
	case http.StatusTooManyRequests:
		return sending.Throttled
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return sending.TimedOut
	}
	// the SDK returns these errors if it cannot build the request, so nothing was sent
	_, missing := errors.AsType[smithy.InvalidParamsError](err)
	if _, unwritable := errors.AsType[*smithy.SerializationError](err); missing || unwritable {
		return sending.Invalid
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return sending.TimedOut
	}
	return sending.Refused
}

// explains reports whether a 404 response means that the requested object does not exist.
// Errors of SES have a message; a 404 without a message comes from another server.
func explains(err error) bool {
	const none = "UnknownError" // the SDK's value for a missing error code or message
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() != "UnknownOperationException" && api.ErrorMessage() != none && api.ErrorMessage() != ""
}

// answer has the status and the header of the response to a failed call; it is the zero
// value if there was no response.
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

// retryAfter returns the wait that the response's Retry-After header asks for, in seconds
// (RFC 9110 section 10.2.3). It returns zero if the header is missing, is not a number of
// seconds, or asks for more than an hour.
func retryAfter(err error) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(classifyAnswer(err).header.Get("Retry-After")))
	if err != nil || seconds < 0 || seconds > int(time.Hour.Seconds()) {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// unrepeatableFailure converts the error of a call that must not be repeated, such as
// sending a message. It returns TimedOut unless the error proves that the call had no
// effect: after a broken connection, a partial response or a 5xx status, the outcome is
// unknown. It returns Rejected for a missing template or configuration set, and else the
// result of failureOf.
func unrepeatableFailure(ctx context.Context, err error) error {
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

// hadNoEffect reports whether the failed call cannot have had an effect: SES answered with
// a 4xx status, or the request was never sent.
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

// code returns the error code of SES in err, or "" if there is none.
func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}
