package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// document is a public JSON document, the same for every caller until the process ends.
type document struct {
	body []byte
	etag string
}

// newDocument encodes a value as a JSON document with an ETag.
func newDocument(value any) (*document, error) {
	body, err := jsonv2.Marshal(value, jsonv1.DefaultOptionsV1())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &document{body: body, etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}, nil
}

// serve writes the document, or 304 if the client already has it (RFC 9110 section 13.1.2).
func (d *document) serve(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", d.etag)
	if has(c.Request.Header.Get("If-None-Match"), d.etag) {
		c.Writer.WriteHeader(http.StatusNotModified)
		return
	}
	write(c.Writer, "application/json", http.StatusOK, d.body)
}

// has reports whether the header If-None-Match matches an ETag, by weak comparison.
func has(ifNoneMatch, etag string) bool {
	for one := range strings.SplitSeq(ifNoneMatch, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == etag || one == "*" {
			return true
		}
	}
	return false
}

// health is the answer of the health endpoint. It means that the process answers. It does
// not check the database or the sending account.
type health struct {
	Status string    `json:"status"`
	Commit string    `json:"commit"`
	Time   time.Time `json:"time"`
}

// health writes the health document.
func (s *Server) health(c *gin.Context) {
	body, err := json.Marshal(health{Status: "ok", Commit: s.cfg.Commit, Time: s.cfg.Clock().UTC()})
	if err != nil {
		s.refuse(c, nil, err)
		return
	}
	c.Writer.Header().Set("Cache-Control", noStore)
	write(c.Writer, "application/json", http.StatusOK, body)
}
