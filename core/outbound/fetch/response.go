package fetch

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// Content says which content types and compressions of a response are accepted.
type Content int

const (
	// AnyContent is not checked.
	AnyContent Content = iota
	// JSON requires the content type application/json or another JSON type (RFC 6839), and
	// no compression.
	JSON
)

// The errors of a fetch that exceeds a limit of Config.
var (
	ErrScheme      = errors.New("a scheme that is not fetched")
	ErrTooSlow     = errors.New("took too long")
	ErrTooLong     = errors.New("longer than allowed")
	ErrCompressed  = errors.New("is compressed")
	ErrContentType = errors.New("has another content type")
)

// StatusError is the error for a response with a status other than 200, including
// redirects.
type StatusError struct{ Status int }

// Error names the status.
func (e *StatusError) Error() string { return fmt.Sprintf("answered with status %d", e.Status) }

// check returns an error if the status of the response is not 200. If Config.Content is
// JSON, it also fails for a compressed response and for a Content-Type other than JSON.
func (c Config) check(response *http.Response) error {
	switch {
	case response.StatusCode != http.StatusOK:
		return &StatusError{response.StatusCode}
	case c.Content != JSON:
		return nil
	case response.Header.Get("Content-Encoding") != "":
		return ErrCompressed
	case !isJSON(response.Header.Get("Content-Type")):
		return ErrContentType
	}
	return nil
}

// isJSON reports whether a Content-Type header is application/json or
// application/<name>+json.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}
