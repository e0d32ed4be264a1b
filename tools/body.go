package tools

import (
	"errors"
	"io"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
)

// maxBody is the longest request that is read, in bytes. The largest honest
// one, a batch of activities, stays well under it.
const maxBody = 1 << 20

// readBody reads at most maxBody. A body that announces more is refused unread.
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

func tooLarge() *core.Error {
	return bodyRefusal(http.StatusRequestEntityTooLarge, "is larger than 1 MiB").WithNext("Split the call into smaller ones.")
}

// bodyRefusal is validation_failed of the whole body, with the status HTTP has
// for the case.
func bodyRefusal(status int, reason string) *core.Error {
	e := core.Invalid("", reason)
	e.Status = status
	return e
}
