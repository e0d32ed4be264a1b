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

// maxBody is the maximum size of a request's body, in bytes, unless its route has another.
const maxBody = 1 << 20

// readBody reads a JSON body. It refuses a body whose announced length exceeds the limit
// without reading it, and any other body as soon as it exceeds the limit.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength == 0 {
		return nil, errNoBody()
	}
	if r.ContentLength > most {
		w.Header().Set("Connection", "close")
		return nil, errBodyTooLarge(most)
	}
	if err := checkContentType(r.Header); err != nil {
		return nil, err
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

// checkContentType accepts application/json and types that end in +json. It refuses a body
// without a type, which is often not meant to be JSON.
func checkContentType(h http.Header) error {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return core.Invalid("Content-Encoding", "is not supported; send the body as it is")
	}
	mediaType, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || mediaType != "application/json" && !strings.HasSuffix(mediaType, "+json") {
		return core.Invalid("Content-Type", "must be application/json")
	}
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return core.Invalid("Content-Type", "must name no charset but utf-8")
	}
	return nil
}

// refuseBody fails when a GET or DELETE has a body, which has no meaning there (RFC 9110
// sections 9.3.1 and 9.3.5). It reads one byte when no length was announced.
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
	return core.Invalid("", "has a body, which this method does not take")
}

// refuseQuery fails when a request with a body has a query, which has no meaning there.
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

// errNoBody returns the refusal of a request without a body.
func errNoBody() error {
	return core.Invalid("", "has no body where a JSON object is expected")
}

// errBodyTooLarge returns the refusal of a body of more than most bytes.
func errBodyTooLarge(most int64) error {
	return core.Invalid("", "has a body of more than "+strconv.FormatInt(most>>20, 10)+" MiB")
}
