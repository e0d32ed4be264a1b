package rest

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
)

// pagedResult is the result of an operation that returns pages, such as core.Envelope. Next
// returns the cursor of the next page, or "" on the last page.
type pagedResult interface{ Next() string }

// headerResult is a result for a route with [Route.Header]. HeaderValue returns the value
// of the response header that Route.Header names, "" if the answer does not have it.
type headerResult interface{ HeaderValue() string }

// transientResult is a result that may soon be outdated. If IsTransient returns true, the
// answer with this result must not be cached, even if the route allows caching.
type transientResult interface{ IsTransient() bool }

// verbatim is a result that encodes itself, because package json would change parts of it or take longer.
// AppendJSON appends the whole result as JSON.
type verbatim interface{ AppendJSON([]byte) ([]byte, error) }

// archiveResult is a result for a route with [Route.Archive]. Archive returns it as a zip archive.
type archiveResult interface{ Archive() ([]byte, error) }

// zipType is the media type of zip archives.
const zipType = "application/zip"

// acceptsZip reports whether the header Accept names zip archives. Wildcards do not count, because
// programs send them that expect JSON.
func acceptsZip(h http.Header) bool {
	for _, value := range h.Values("Accept") {
		for choice := range strings.SplitSeq(value, ",") {
			mediaType, parameters, err := mime.ParseMediaType(choice)
			refused := parameters["q"] != "" && strings.Trim(parameters["q"], "0.") == ""
			if err == nil && mediaType == zipType && !refused {
				return true
			}
		}
	}
	return false
}

// encode returns a result as JSON.
func encode(value any) ([]byte, error) {
	if value, ok := value.(verbatim); ok {
		return value.AppendJSON(nil)
	}
	return json.Marshal(value)
}

// answer writes the result of an operation, with its headers and status.
func (s *Server) answer(c *gin.Context, m *mount, result guardrails.Result) {
	h := c.Writer.Header()
	h.Set("Cache-Control", m.cacheControl)
	if m.MaxAge > 0 {
		h.Set("Vary", "Authorization")
	}
	if m.Archive {
		h.Add("Vary", "Accept")
	}
	if result, ok := result.Value.(transientResult); ok && result.IsTransient() {
		h.Set("Cache-Control", noStore)
	}
	if result.Replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	result.Headers(h.Set)
	if page, ok := result.Value.(pagedResult); ok && page.Next() != "" {
		s.setNext(c, page.Next())
	}
	if result, ok := result.Value.(headerResult); ok && m.Header != "" && result.HeaderValue() != "" {
		h.Set(m.Header, result.HeaderValue())
	}
	status := m.Success
	if m.MayCreate && result.Created {
		status = http.StatusCreated
	}
	if status == http.StatusNoContent {
		m.operation.CountAnswer(core.REST, 0, false)
		c.Writer.WriteHeader(status)
		return
	}
	body, err := encode(result.Value)
	contentType := "application/json"
	if archive, ok := result.Value.(archiveResult); ok && m.Archive && acceptsZip(c.Request.Header) {
		body, err = archive.Archive()
		contentType = zipType
		h.Set("Content-Disposition", `attachment; filename="mailhelm.zip"`)
	}
	if err != nil {
		s.refuse(c, m, core.Internal(err))
		return
	}
	m.operation.CountAnswer(core.REST, len(body), false)
	write(c.Writer, contentType, status, body)
}

// write writes a complete response. It ignores errors, which mean that the client has
// disconnected.
func write(w http.ResponseWriter, contentType string, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
