package rest

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
)

const requestIDHeader = "X-Request-Id"

// RequestID is the id of a request: the caller's own when it is 1 to 128
// characters of A-Za-z0-9._:- and a fresh one otherwise.
func RequestID(h http.Header) string {
	if own := h[requestIDHeader]; len(own) == 1 && isRequestID(own[0]) {
		return own[0]
	}
	return core.NewID()
}

func isRequestID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != ':' && c != '-' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 128
}

// identify gives the request its id and the answer what every answer carries.
func (s *Server) identify(c *gin.Context) {
	h := c.Writer.Header()
	h[requestIDHeader] = []string{RequestID(c.Request.Header)}
	h["X-Content-Type-Options"] = nosniff
	c.Next()
}

var nosniff = []string{"nosniff"}

// requestID is what identify put on the answer.
func requestID(c *gin.Context) string {
	return c.Writer.Header()[requestIDHeader][0]
}

// setRate tells the state of the caller's bucket under the names of the IETF
// draft (draft-ietf-httpapi-ratelimit-headers-06) and under the older ones. nil
// means that the organization has no limit, and then there is nothing to tell.
func setRate(h http.Header, rate *guardrails.Rate) {
	if rate == nil {
		return
	}
	limit := strconv.Itoa(rate.Limit)
	remaining := strconv.Itoa(rate.Remaining)
	reset := strconv.Itoa(int(rate.Reset.Seconds()))
	for _, prefix := range []string{"", "X-"} {
		h.Set(prefix+"RateLimit-Limit", limit)
		h.Set(prefix+"RateLimit-Remaining", remaining)
		h.Set(prefix+"RateLimit-Reset", reset)
	}
	h.Set("RateLimit-Policy", limit+";w=60")
}

// setNext links the following page: the same address and filters with the
// cursor in them, so that a client follows it as it is (RFC 8288).
func (s *Server) setNext(c *gin.Context, cursor string) {
	query := c.Request.URL.Query()
	query.Set("cursor", cursor)
	url := s.cfg.BaseURL + c.Request.URL.EscapedPath() + "?" + query.Encode()
	c.Writer.Header().Set("Link", "<"+url+`>; rel="next"`)
}
