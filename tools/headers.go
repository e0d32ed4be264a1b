package tools

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

const requestIDHeader = "X-Request-Id"

// checkMedia: the request is JSON and the client takes JSON for an answer.
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

// acceptsEvents wants the type named: a client that takes anything takes JSON.
func acceptsEvents(accept []string) bool { return accepts(accept, "text/event-stream") }

// accepts reads no weights: a client that names a type takes it.
func accepts(accept []string, types ...string) bool {
	for _, entry := range strings.Split(strings.Join(accept, ","), ",") {
		media, _, _ := strings.Cut(entry, ";")
		if slices.Contains(types, strings.ToLower(strings.TrimSpace(media))) {
			return true
		}
	}
	return false
}

// headerRefusal is validation_failed with the status HTTP has for the case.
func headerRefusal(status int, header, reason string) *core.Error {
	e := core.Invalid(header, reason)
	e.Status = status
	e.Next = "Correct the header and send the request again."
	return e
}
