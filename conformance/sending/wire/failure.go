package wire

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// refusal is an error response of the imitated API.
type refusal struct {
	// status is the HTTP status.
	status int
	// name is the name of the error in the API, which is sent in the header
	// X-Amzn-Errortype.
	name string
	// message is the error text for people, in the member "message" of the body.
	message string
	// retryAfter is sent in the header Retry-After in whole seconds, rounded up. Zero sends
	// no such header.
	retryAfter time.Duration
}

// Error returns the name and the message of the error.
func (r *refusal) Error() string { return r.name + ": " + r.message }

// badRequest returns a BadRequestException, for a request that Amazon SES or this package
// does not accept.
func badRequest(message string) error {
	return &refusal{http.StatusBadRequest, "BadRequestException", message, 0}
}

// notFound returns a NotFoundException, which the SES adapter converts to sending.NotFound.
func notFound(message string) error {
	return &refusal{http.StatusNotFound, "NotFoundException", message, 0}
}

// alreadyExists returns an AlreadyExistsException, for which Amazon SES uses status 400.
func alreadyExists(message string) error {
	return &refusal{http.StatusBadRequest, "AlreadyExistsException", message, 0}
}

// unknown answers with UnknownOperationException. It serves requests for paths that are
// unknown to [New].
func unknown(*http.Request) (any, error) {
	return nil, &refusal{http.StatusNotFound, "UnknownOperationException", "There is no such operation.", 0}
}

// refusalOf converts an error of the simulator to an error response. For sending.TimedOut
// (unknown whether the call had an effect) it returns the status 504 with the error name
// GatewayTimeout, as a gateway in front of Amazon SES does.
// An error that is neither a refusal nor a sending.Failure becomes an
// InternalServiceErrorException.
func refusalOf(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	f, ok := errors.AsType[*sending.Failure](err)
	if !ok {
		return &refusal{http.StatusInternalServerError, "InternalServiceErrorException", "Something went wrong.", 0}
	}
	text := f.Err.Error()
	switch {
	case f.Kind == sending.TimedOut:
		return &refusal{http.StatusGatewayTimeout, "GatewayTimeout", "No answer in time.", 0}
	case f.Kind == sending.Throttled:
		return &refusal{http.StatusTooManyRequests, "TooManyRequestsException", text, f.RetryAfter}
	case f.Kind == sending.NotFound, errors.Is(err, simulator.ErrMissing):
		return &refusal{http.StatusNotFound, "NotFoundException", text, 0}
	case errors.Is(err, simulator.ErrSendingPaused):
		return &refusal{http.StatusBadRequest, "SendingPausedException", text, 0}
	case f.Kind == sending.Rejected:
		return &refusal{http.StatusBadRequest, "MessageRejected", text, 0}
	case f.Kind == sending.Invalid, f.Kind == sending.Full, f.Kind == sending.Unsupported:
		return &refusal{http.StatusBadRequest, "BadRequestException", text, 0}
	}
	return &refusal{http.StatusForbidden, "UnrecognizedClientException", "The security token included in the request is invalid.", 0}
}

// writeError writes an error response in the format of the AWS REST JSON protocol. The name
// of the error is in a header and in the member __type.
func writeError(out http.ResponseWriter, err error) {
	r := refusalOf(err)
	out.Header().Set("X-Amzn-Errortype", r.name)
	if r.retryAfter > 0 {
		out.Header().Set("Retry-After", strconv.FormatFloat(math.Ceil(r.retryAfter.Seconds()), 'f', 0, 64))
	}
	out.WriteHeader(r.status)
	// fails only if the client has disconnected
	_ = json.NewEncoder(out).Encode(map[string]string{"__type": r.name, "message": r.message})
}
