package tools

import (
	"errors"
	"io"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
)

// maxBody is the longest request body, in bytes. The largest valid one, a batch of
// activities, is much shorter.
const maxBody = 1 << 20

// readBody returns a body of at most maxBody bytes. It refuses a body with a longer
// Content-Length without reading it.
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
	return nil, bodyRefusal(http.StatusBadRequest, "ended before its body was whole")
}

// tooLarge returns the refusal of a body of more than maxBody bytes.
func tooLarge() *core.Error {
	return bodyRefusal(http.StatusRequestEntityTooLarge, "is larger than 1 MiB").WithNext("Split the call into smaller ones.")
}

// bodyRefusal returns validation_failed about the whole body, with the given HTTP status.
func bodyRefusal(status int, reason string) *core.Error {
	e := core.Invalid("", reason)
	e.Status = status
	return e
}
