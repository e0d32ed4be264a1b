package rest

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/guardrails"
)

// maxBundle is the maximum size of a body with a bundle. JSON takes more room than a zip archive, because
// it has images in base64.
const maxBundle = archive.MaxPacked*4/3 + 1<<20

// maxBundleValues is the maximum number of JSON values in a body with a bundle. The manifest has at most
// 64 KiB, and each file is one value. A value takes about a hundred times the memory of its text.
const maxBundleValues = 50_000

// jsonSpace is the white space of JSON (RFC 8259 section 2).
const jsonSpace = " \t\r\n"

// readBundle sets the arguments of a route some of which are in the query: the others are in the JSON
// body, or the body is a zip archive, whose files are not arguments.
func (m *mount) readBundle(c *gin.Context, r *guardrails.Request) error {
	query, err := m.queryObject(c.Request.URL.RawQuery)
	if err != nil {
		return err
	}
	if !m.Bundle || !isZip(c.Request.Header) {
		body, err := readBody(c.Writer, c.Request, m.MaxBody)
		if err == nil && countValues(body) > maxBundleValues {
			err = core.Invalid("", "has more than "+strconv.Itoa(maxBundleValues)+" JSON values; send each file as one text")
		}
		r.Arguments = addMembers(body, query)
		return err
	}
	if encoding := c.Request.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return core.Invalid("Content-Encoding", "is not supported; send the archive as it is")
	}
	packed, err := readAll(c.Writer, c.Request, archive.MaxPacked)
	if err != nil {
		return err
	}
	r.Arguments = query
	r.Files, err = archive.ReadZip(packed)
	return err
}

// queryObject returns the members in a query as a JSON object.
func (m *mount) queryObject(query string) (json.RawMessage, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, core.Invalid("", "has a query that is not encoded correctly")
	}
	for name := range values {
		if !slices.Contains(m.QueryAlso, name) {
			return nil, core.Invalid(core.Quotable(name, 80), "is no query parameter of this route; parameters are "+core.QuotedList(m.QueryAlso))
		}
	}
	object, err := m.appendQuery([]byte{'{'}, query)
	if err != nil {
		return nil, err
	}
	return closeObject(object), nil
}

// countValues returns at least the number of values in a JSON text, before it is parsed: a value follows
// a comma, or the beginning of an array, of an object or of the text.
func countValues(text []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++ // the next byte is escaped
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// addMembers adds the members of an object to the end of a body, if that is an object too. It changes the
// body, which can have many megabytes, and does not copy it if it has room.
func addMembers(body []byte, object json.RawMessage) json.RawMessage {
	trimmed := bytes.Trim(body, jsonSpace)
	inner, isObject := bytes.CutPrefix(trimmed, []byte("{"))
	if len(object) == len("{}") || !isObject || !json.Valid(body) {
		return body // there is nothing to add, or the schema refuses the body
	}
	inner = inner[:len(inner)-1]
	open := trimmed[:len(trimmed)-1]
	if len(bytes.Trim(inner, jsonSpace)) > 0 {
		open = append(open, ',')
	}
	return append(open, object[1:]...)
}

// isZip reports whether a body is a zip archive.
func isZip(h http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && mediaType == zipType
}
