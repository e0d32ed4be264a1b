package fetch

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// Content is what a response must contain.
type Content int

const (
	// AnyContent is not checked.
	AnyContent Content = iota
	// JSON has the content type application/json or another JSON type (RFC 6839), and is
	// not compressed.
	JSON
)

// The limits at which a fetch fails.
var (
	ErrScheme      = errors.New("a scheme that is not fetched")
	ErrTooSlow     = errors.New("took too long")
	ErrTooLong     = errors.New("longer than allowed")
	ErrCompressed  = errors.New("is compressed")
	ErrContentType = errors.New("has another content type")
)

// StatusError is the error for a response with a status other than 200. A redirect is
// one of them.
type StatusError struct{ Status int }

// Error names the status.
func (e *StatusError) Error() string { return fmt.Sprintf("answered with status %d", e.Status) }

// check checks the status and the header of a response.
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

// isJSON reports whether the type is application/json or another JSON type.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}
