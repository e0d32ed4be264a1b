package tools

import (
	"errors"
	"io"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
)

// maxBody is the maximum length of a request body, in bytes. The largest valid body, a
// batch of activities, is much shorter.
const maxBody = 1 << 20

// readBody returns the body of a request. It fails with status 413 if the body is longer
// than maxBody; if Content-Length says so, it does not read the body. It fails with status
// 400 if the body ends early.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close")
		return nil, tooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		return body, nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge()
	}
	return nil, bodyRefusal(http.StatusBadRequest, "ended before its body was complete")
}

// tooLarge returns the error for a body of more than maxBody bytes, with status 413.
func tooLarge() *core.Error {
	return bodyRefusal(http.StatusRequestEntityTooLarge, "is larger than 1 MiB").WithNext("Split the call into smaller ones.")
}

// bodyRefusal returns a validation_failed error that concerns the whole body, with this
// HTTP status.
func bodyRefusal(status int, reason string) *core.Error {
	e := core.Invalid("", reason)
	e.Status = status
	return e
}
