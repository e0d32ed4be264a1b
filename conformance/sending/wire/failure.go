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

// refusal is an error response with the provider's name of the error.
type refusal struct {
	// status is the HTTP status.
	status int
	// name is the value of the X-Amzn-Errortype header.
	name string
	// message is the text for people, in the member of this name.
	message string
	// retryAfter is sent in whole seconds, rounded up. Zero sends no Retry-After header.
	retryAfter time.Duration
}

// Error returns the name and the message.
func (r *refusal) Error() string { return r.name + ": " + r.message }

// badRequest returns a BadRequestException, for a request that the provider or this
// package does not accept.
func badRequest(message string) error {
	return &refusal{http.StatusBadRequest, "BadRequestException", message, 0}
}

// notFound returns a NotFoundException, with which the adapter fails as
// sending.NotFound.
func notFound(message string) error {
	return &refusal{http.StatusNotFound, "NotFoundException", message, 0}
}

// alreadyExists returns an AlreadyExistsException, which has status 400 at the provider.
func alreadyExists(message string) error {
	return &refusal{http.StatusBadRequest, "AlreadyExistsException", message, 0}
}

// unknown is the operation for every path that New does not list.
func unknown(*http.Request) (any, error) {
	return nil, &refusal{http.StatusNotFound, "UnknownOperationException", "There is no such operation.", 0}
}

// refusalOf returns the provider's error for err. For an unknown outcome it returns the
// response of a gateway in front of the provider. An error that is neither a refusal nor
// a sending.Failure is an InternalServiceErrorException.
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

// writeError writes err in the format of the AWS REST JSON protocol: the name in a
// header and again as the member __type.
func writeError(out http.ResponseWriter, err error) {
	r := refusalOf(err)
	out.Header().Set("X-Amzn-Errortype", r.name)
	if r.retryAfter > 0 {
		out.Header().Set("Retry-After", strconv.FormatFloat(math.Ceil(r.retryAfter.Seconds()), 'f', 0, 64))
	}
	out.WriteHeader(r.status)
	_ = json.NewEncoder(out).Encode(map[string]string{"__type": r.name, "message": r.message}) // a client that has disconnected is not an error
}
