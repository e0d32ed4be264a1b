package rest

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
)

// maxBundle is the maximum size of a body with a bundle. JSON takes more room than a zip archive, because
// it has images in base64.
const maxBundle = archive.MaxPacked*4/3 + 1<<20

// withBodyAndQuery returns the arguments of an operation some of which are in the query, and the others
// in the body.
func (m *mount) withBodyAndQuery(c *gin.Context) (json.RawMessage, error) {
	object, err := m.appendQuery([]byte{'{'}, c.Request.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	body, err := m.bundleBody(c)
	if err != nil {
		return nil, err
	}
	members, isObject := bytes.CutPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
	if !isObject || !json.Valid(body) {
		return body, nil // the schema refuses it
	}
	for name := range c.Request.URL.Query() {
		if !slices.Contains(m.QueryAlso, name) {
			return nil, core.Invalid(core.Quotable(name, 80), "is no query parameter of this route; parameters are "+core.QuotedList(m.QueryAlso))
		}
	}
	if rest := bytes.TrimLeft(members, " \t\r\n"); rest[0] == '}' {
		return closeObject(object), nil
	}
	return append(object, members...), nil
}

// bundleBody returns the JSON body of a request, or the JSON form of a zip archive.
func (m *mount) bundleBody(c *gin.Context) ([]byte, error) {
	r := c.Request
	if !m.Bundle || !isZip(r.Header) {
		return readBody(c.Writer, r, m.MaxBody)
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, core.Invalid("Content-Encoding", "is not supported; send the archive as it is")
	}
	packed, err := readAll(c.Writer, r, archive.MaxPacked)
	if err != nil {
		return nil, err
	}
	tree, err := archive.ReadZip(packed)
	if err != nil {
		return nil, err
	}
	d := archive.NewDocument(tree, nil)
	if text, ok := tree[archive.ManifestPath]; ok {
		d.Manifest, d.Files[archive.ManifestPath] = nil, string(text)
	}
	return json.Marshal(d)
}

// isZip reports whether a body is a zip archive.
func isZip(h http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && mediaType == zipType
}
