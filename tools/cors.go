package tools

import (
	"net/http"

	"github.com/mailhelm/mailhelm/guardrails"
)

// The values of CORS headers (Fetch standard). A page sends its access token in the
// Authorization header, so Access-Control-Allow-Credentials is never set.
const (
	corsRequestHeaders = "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Request-Id, traceparent, tracestate"
	corsAnswerHeaders  = "WWW-Authenticate, Retry-After, X-Request-Id, " + guardrails.ReplicaLagHeader + ", " +
		"RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"
	corsMaxAge = "600" // seconds
)

// shareWithOrigin sets the CORS headers that let a page of an allowed origin read the
// answer. Answers to other origins have none of these headers.
func (s *Server) shareWithOrigin(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Vary", "Origin")
	if origin, ok := s.origins.allowedOrigin(r.Header); ok {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsAnswerHeaders)
	}
}

// shareWithAll sets the CORS headers that let every page read the answer. It is for public
// answers, which clients need before they have a token.
func shareWithAll(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", corsAnswerHeaders)
}

// isPreflight reports whether the request is a CORS preflight.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header["Origin"] != nil && r.Header["Access-Control-Request-Method"] != nil
}

// answerPreflight answers a CORS preflight with the allowed methods. It runs before
// authentication, because browsers send no token with a preflight.
func answerPreflight(w http.ResponseWriter, methods string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", corsRequestHeaders)
	h.Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(http.StatusNoContent)
}
