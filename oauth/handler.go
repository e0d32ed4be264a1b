package oauth

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
)

const (
	requestIDHeader = "X-Request-Id"
	publicCache     = "public, max-age=300"
)

// Paths returns the paths of all endpoints, also of those that a configuration disables.
func Paths() []string {
	return []string{TokenPath, RevocationPath, IntrospectionPath, KeySetPath, RegistrationPath, MetadataPath}
}

// routes returns the handler of all endpoints that the configuration enables. Other paths
// of the OpenID Connect library are not reachable.
func routes(cfg Config, library http.Handler, metadata []byte) http.Handler {
	endpoints := clientEndpoints{log: cfg.Log}
	mux := http.NewServeMux()
	mux.Handle(TokenPath, preflight("POST", endpoints.protect(checkGrant, library)))
	mux.Handle(RevocationPath, preflight("POST", endpoints.protect(checkRevocation, library)))
	if cfg.Introspection {
		mux.Handle(IntrospectionPath, preflight("POST", endpoints.protect(checkIntrospection, confidential(library))))
	}
	mux.Handle(KeySetPath, preflight("GET, HEAD", readOnly(library)))
	if cfg.Registrations != nil {
		registration := &registrationEndpoint{registrar: cfg.Registrations, proxies: cfg.Proxies, log: cfg.Log}
		mux.Handle(RegistrationPath, preflight("POST", http.HandlerFunc(registration.register)))
	}
	mux.Handle(MetadataPath, preflight("GET, HEAD", readOnly(document(metadata))))
	return common(mux)
}

// common sets the headers of every response and the request id. Scripts of any origin may
// read responses, because no endpoint reads cookies and browsers send no credentials.
// Requests use the database connections that are reserved for the lane [core.Vital]. If
// these requests had to wait for other work, clients could get no tokens and thus make no
// API calls.
func common(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, X-Request-Id")
		header.Set("X-Content-Type-Options", "nosniff")
		if header.Get(requestIDHeader) == "" {
			header.Set(requestIDHeader, core.RequestID(r.Header[requestIDHeader]))
		}
		next.ServeHTTP(w, r.WithContext(core.WithLane(r.Context(), core.Vital)))
	})
}

// preflight answers OPTIONS requests, which browsers send before cross-origin requests.
// methods are the allowed methods, separated by commas.
func preflight(methods string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		header := w.Header()
		header.Set("Allow", methods+", OPTIONS")
		header.Set("Access-Control-Allow-Methods", methods)
		header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version, X-Request-Id")
		header.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	})
}

// readOnly passes GET and HEAD requests to next and answers other methods with 405.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			http.Error(w, "This document is read with GET.", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// document returns a handler for a JSON document that clients may cache for five minutes.
func document(body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", publicCache)
		w.Write(body) //nolint:errcheck // on a failure the client has gone
	})
}
