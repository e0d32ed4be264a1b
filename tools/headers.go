package tools

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

const requestIDHeader = "X-Request-Id"

// checkMedia checks that the request is JSON and that the client accepts JSON.
func checkMedia(h http.Header) error {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != "application/json" || len(h["Content-Type"]) > 1 {
		return headerRefusal(http.StatusUnsupportedMediaType, "Content-Type", "must be application/json")
	}
	for _, encoding := range h["Content-Encoding"] {
		if !strings.EqualFold(encoding, "identity") {
			return headerRefusal(http.StatusUnsupportedMediaType, "Content-Encoding", "must be absent: bodies are read as they come")
		}
	}
	if !acceptsJSON(h["Accept"]) {
		return headerRefusal(http.StatusNotAcceptable, "Accept", "must allow application/json")
	}
	return nil
}

func acceptsJSON(accept []string) bool {
	// RFC 9110 section 12.5.1: no header, no preference.
	return len(accept) == 0 || accepts(accept, "application/json", "application/*", "*/*")
}

// acceptsEvents reports whether the client names the type of events: a client that accepts
// any type gets JSON.
func acceptsEvents(accept []string) bool { return accepts(accept, "text/event-stream") }

// accepts reports whether the client names one of the types. Weights are ignored.
func accepts(accept []string, types ...string) bool {
	for _, entry := range strings.Split(strings.Join(accept, ","), ",") {
		media, _, _ := strings.Cut(entry, ";")
		if slices.Contains(types, strings.ToLower(strings.TrimSpace(media))) {
			return true
		}
	}
	return false
}

// headerRefusal returns validation_failed with the HTTP status of the case.
func headerRefusal(status int, header, reason string) *core.Error {
	e := core.Invalid(header, reason)
	e.Status = status
	e.Next = "Correct the header and send the request again."
	return e
}
