package rest

import (
	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
)

// Names of headers that several files use. X-Service-Rules-Version has the version of the
// rules that decide whether an address is undeliverable.
const (
	requestIDHeader    = "X-Request-Id"
	rulesVersionHeader = "X-Service-Rules-Version"
	omittedHeader      = "X-Service-Omitted"
)

// identify sets the request id and the headers of every response.
func (s *Server) identify(c *gin.Context) {
	h := c.Writer.Header()
	h[requestIDHeader] = []string{core.RequestID(c.Request.Header[requestIDHeader])}
	h["X-Content-Type-Options"] = nosniff
	c.Next()
}

// nosniff is the value of X-Content-Type-Options. All responses share this slice to save an
// allocation, so it must not be changed.
var nosniff = []string{"nosniff"}

// requestID returns the request id, which the handler identify has set.
func requestID(c *gin.Context) string {
	return c.Writer.Header()[requestIDHeader][0]
}

// setNext sets the header Link to the next page: the URL of this request with the cursor
// (RFC 8288).
func (s *Server) setNext(c *gin.Context, cursor string) {
	query := c.Request.URL.Query()
	query.Set("cursor", cursor)
	url := s.cfg.BaseURL + c.Request.URL.EscapedPath() + "?" + query.Encode()
	c.Writer.Header().Set("Link", "<"+url+`>; rel="next"`)
}
