package rest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// maxBody is the maximum size of a request body in bytes, unless the route sets another
// maximum.
const maxBody = 1 << 20

// readBody returns the JSON body of a request. The maximum size in bytes is in the
// parameter most. A body with a larger Content-Length is refused unread. Any other body is
// refused as soon as the received part is too large.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength != 0 && r.ContentLength <= most {
		if err := checkContentType(r.Header); err != nil {
			return nil, err
		}
	}
	return readAll(w, r, most)
}

// readAll returns the body of a request, as readBody does.
func readAll(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength == 0 {
		return nil, errNoBody()
	}
	if r.ContentLength > most {
		w.Header().Set("Connection", "close")
		return nil, errBodyTooLarge(most)
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, errBodyTooLarge(most)
	}
	if err != nil {
		return nil, &core.Error{Code: core.CodeValidationFailed, Message: "The body ended before it was complete.", Err: err}
	}
	if body.Len() == 0 {
		return nil, errNoBody()
	}
	return body.Bytes(), nil
}

// checkContentType accepts application/json and types that end in +json, in UTF-8 and
// uncompressed. It refuses a body without a content type, which is often not meant to be
// JSON.
func checkContentType(h http.Header) error {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return core.Invalid("Content-Encoding", "is not supported; send the body as it is")
	}
	mediaType, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || mediaType != "application/json" && !strings.HasSuffix(mediaType, "+json") {
		return core.Invalid("Content-Type", "must be application/json")
	}
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return core.Invalid("Content-Type", "must have no charset other than utf-8")
	}
	return nil
}

// refuseBody fails if a GET or DELETE has a body, which has no meaning there (RFC 9110
// sections 9.3.1 and 9.3.5). Without a Content-Length it reads one byte to find out whether
// there is a body.
func refuseBody(r *http.Request) error {
	if r.ContentLength == 0 || r.Body == nil {
		return nil
	}
	if r.ContentLength < 0 {
		var one [1]byte
		if n, _ := io.ReadFull(r.Body, one[:]); n == 0 {
			return nil
		}
	}
	return core.Invalid("", "has a body, which this method does not accept")
}

// refuseQuery fails if a request whose arguments are in the body also has a query.
func refuseQuery(query string) error {
	if query == "" {
		return nil
	}
	name, _, _ := strings.Cut(query, "=")
	if decoded, err := url.QueryUnescape(name); err == nil {
		name = decoded
	}
	return core.Invalid(core.Quotable(name, 80), "is given in the query; this method takes its arguments from the body")
}

// errNoBody returns the error for a request without a body.
func errNoBody() error {
	return core.Invalid("", "has no body; send a JSON object")
}

// errBodyTooLarge returns the error for a body that exceeds the maximum size, the number of
// bytes in the parameter most.
func errBodyTooLarge(most int64) error {
	return core.Invalid("", "has a body of more than "+strconv.FormatInt(most>>20, 10)+" MiB")
}
