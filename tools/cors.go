package tools

import "net/http"

// The values of CORS headers (Fetch standard). A page sends the token in a header that it
// sets itself, so the browser's own credentials are never allowed.
const (
	corsRequestHeaders = "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Request-Id, traceparent, tracestate"
	corsAnswerHeaders  = "WWW-Authenticate, Retry-After, X-Request-Id, " +
		"RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"
	corsMaxAge = "600" // seconds
)

// shareWithOrigin sets the headers that let a page of an allowed origin read the answer.
// Pages of other origins learn nothing, not even which origins are allowed.
func (s *Server) shareWithOrigin(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Vary", "Origin")
	if origin, ok := s.origins.allowedOrigin(r.Header); ok {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsAnswerHeaders)
	}
}

// shareWithAll sets the headers that let every page read the answer. Such answers are
// public, and clients need them before they have a token.
func shareWithAll(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", corsAnswerHeaders)
}

// isPreflight reports whether the request is an OPTIONS request about another request.
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
