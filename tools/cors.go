package tools

import "net/http"

// What a page of another origin may do is said in the terms of the Fetch
// standard. The token is in a header that the page sets itself, so the browser's
// own credentials are never allowed.
const (
	corsRequestHeaders = "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Request-Id, traceparent, tracestate"
	corsAnswerHeaders  = "WWW-Authenticate, Retry-After, X-Request-Id, " +
		"RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"
	corsMaxAge = "600" // seconds
)

// shareWithOrigin lets a page of an allowed origin read the answer. Pages of other origins
// learn nothing, not even the allowed origins.
func (s *Server) shareWithOrigin(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Vary", "Origin")
	if origin, ok := s.origins.allowed(r.Header); ok {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsAnswerHeaders)
	}
}

// shareWithAll lets every page read the answer, which is public and is read before there is
// a token.
func shareWithAll(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", corsAnswerHeaders)
}

// isPreflight reports whether the request is an OPTIONS request about another request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header["Origin"] != nil && r.Header["Access-Control-Request-Method"] != nil
}

// answerPreflight says which requests may follow. Browsers send no token with the question,
// so it is answered before authentication.
func answerPreflight(w http.ResponseWriter, methods string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", corsRequestHeaders)
	h.Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(http.StatusNoContent)
}
