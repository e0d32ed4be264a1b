package rest

import (
	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
)

const (
	requestIDHeader    = "X-Request-Id"
	rulesVersionHeader = "X-Service-Rules-Version"
)

// identify gives the request its id and the answer what every answer carries.
func (s *Server) identify(c *gin.Context) {
	h := c.Writer.Header()
	h[requestIDHeader] = []string{core.RequestID(c.Request.Header[requestIDHeader])}
	h["X-Content-Type-Options"] = nosniff
	c.Next()
}

var nosniff = []string{"nosniff"}

// requestID is what identify put on the answer.
func requestID(c *gin.Context) string {
	return c.Writer.Header()[requestIDHeader][0]
}

// setNext links the following page: the same address and filters with the
// cursor in them, so that a client follows it as it is (RFC 8288).
func (s *Server) setNext(c *gin.Context, cursor string) {
	query := c.Request.URL.Query()
	query.Set("cursor", cursor)
	url := s.cfg.BaseURL + c.Request.URL.EscapedPath() + "?" + query.Encode()
	c.Writer.Header().Set("Link", "<"+url+`>; rel="next"`)
}
