package tools

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

const requestIDHeader = "X-Request-Id"

// checkMedia checks that the request's body is uncompressed JSON and that the client
// accepts JSON. It fails with status 415 or 406.
func checkMedia(h http.Header) error {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != "application/json" || len(h["Content-Type"]) > 1 {
		return headerRefusal(http.StatusUnsupportedMediaType, "Content-Type", "must be application/json")
	}
	for _, encoding := range h["Content-Encoding"] {
		if !strings.EqualFold(encoding, "identity") {
			return headerRefusal(http.StatusUnsupportedMediaType, "Content-Encoding", "must be absent: compressed bodies are not supported")
		}
	}
	if !acceptsJSON(h["Accept"]) {
		return headerRefusal(http.StatusNotAcceptable, "Accept", "must allow application/json")
	}
	return nil
}

// acceptsJSON reports whether the values of an Accept header allow JSON.
func acceptsJSON(accept []string) bool {
	// Without an Accept header, every type is acceptable (RFC 9110 section 12.5.1).
	return len(accept) == 0 || accepts(accept, "application/json", "application/*", "*/*")
}

// acceptsEvents reports whether the Accept header names the media type of server-sent
// events. "*/*" is not enough; such a client gets JSON.
func acceptsEvents(accept []string) bool { return accepts(accept, "text/event-stream") }

// accepts reports whether the values of an Accept header name one of the media types. It
// ignores weights (q).
func accepts(accept []string, types ...string) bool {
	for _, entry := range strings.Split(strings.Join(accept, ","), ",") {
		media, _, _ := strings.Cut(entry, ";")
		if slices.Contains(types, strings.ToLower(strings.TrimSpace(media))) {
			return true
		}
	}
	return false
}

// headerRefusal returns a validation_failed error that concerns a header, with this HTTP
// status.
func headerRefusal(status int, header, reason string) *core.Error {
	e := core.Invalid(header, reason)
	e.Status = status
	e.Next = "Correct the header and send the request again."
	return e
}
