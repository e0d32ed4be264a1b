package tools

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
)

const requestIDHeader = "X-Request-Id"

// requestIDOf is the caller's own id when it is 1 to 128 characters of
// A-Za-z0-9._:- and a fresh one otherwise.
func requestIDOf(h http.Header) string {
	if own := h[requestIDHeader]; len(own) == 1 && isTraceable(own[0]) {
		return own[0]
	}
	return core.NewID()
}

func isTraceable(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._:-", rune(c)) {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 128
}

// setRate tells the state of the caller's bucket under the names of the IETF
// draft (draft-ietf-httpapi-ratelimit-headers-06) and under the older ones. nil
// means that the organization has no limit, and then there is nothing to tell.
func setRate(h http.Header, rate *guardrails.Rate) {
	if rate == nil {
		return
	}
	for _, header := range []struct {
		name  string
		value int
	}{
		{"RateLimit-Limit", rate.Limit},
		{"RateLimit-Remaining", rate.Remaining},
		{"RateLimit-Reset", int(rate.Reset.Seconds())},
	} {
		value := strconv.Itoa(header.value)
		h.Set(header.name, value)
		h.Set("X-"+header.name, value)
	}
	h.Set("RateLimit-Policy", strconv.Itoa(rate.Limit)+";w=60")
}

// checkMedia: the request is JSON and the client takes JSON for an answer.
func checkMedia(h http.Header) error {
	if media, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || media != "application/json" {
		return headerRefusal(http.StatusUnsupportedMediaType, "Content-Type", "must be application/json")
	}
	if !acceptsJSON(h["Accept"]) {
		return headerRefusal(http.StatusNotAcceptable, "Accept", "must allow application/json")
	}
	return nil
}

// acceptsJSON reads no weights: a client that names a type takes it.
func acceptsJSON(accept []string) bool {
	if len(accept) == 0 {
		return true // RFC 9110 section 12.5.1: no header, no preference
	}
	for _, entry := range strings.Split(strings.Join(accept, ","), ",") {
		media, _, _ := strings.Cut(entry, ";")
		switch strings.ToLower(strings.TrimSpace(media)) {
		case "application/json", "application/*", "*/*":
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
