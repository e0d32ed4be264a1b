// Package connectingtest has a server for tests of package connecting: an authorization
// server with refresh tokens that work once, and a protected resource. A test can make it
// fail, and count what it is asked.
package connectingtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// Life is the lifetime of access tokens in seconds.
const Life = 900

// Server is an authorization server and a protected resource on one address of the
// loopback. Fields with a function may be set before the first request.
type Server struct {
	*httptest.Server
	// Fail, if set, answers a request to the token endpoint instead of the server. It returns
	// false to let the server answer.
	Fail func(w http.ResponseWriter) bool
	// Endpoint answers requests to /mcp with a valid token.
	Endpoint http.HandlerFunc
	// Change, if set, changes a metadata document before it is served.
	Change func(document map[string]any)

	mu         sync.Mutex
	issued     int
	access     string            // the only valid access token
	refresh    string            // the only unused refresh token, "" after the grant ended
	challenges map[string]string // PKCE challenges by authorization code
	requests   map[string]int    // token requests by grant type
	reused     bool              // whether a refresh token was used twice
	revoked    []string          // refresh tokens that were revoked, in order
	lose       string            // grant type of the request whose answer is lost, or ""
}

// Start starts the server. It stops when the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{challenges: map[string]string{}, requests: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource", s.resource)
	mux.HandleFunc("/.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /revoke", s.revoke)
	mux.HandleFunc("/mcp", s.endpoint)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Address returns the address of the protected resource.
func (s *Server) Address() string { return s.URL + "/mcp" }

// Requests returns the number of requests to the token endpoint with this grant type.
func (s *Server) Requests(grant string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[grant]
}

// Reused reports whether a refresh token was used a second time. The grant has then ended.
func (s *Server) Reused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reused
}

// Revoked returns the tokens that clients have revoked, in order.
func (s *Server) Revoked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.revoked)
}

// LoseNext makes the server close the connection instead of answering the next token request
// with this grant type. It has issued the token by then.
func (s *Server) LoseNext(grant string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = grant
}

// EndAccess makes the current access token invalid.
func (s *Server) EndAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access = ""
}

// EndGrant revokes the grant.
func (s *Server) EndGrant() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access, s.refresh = "", ""
}

// Granted reports whether the grant is valid.
func (s *Server) Granted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refresh != ""
}

func (s *Server) resource(w http.ResponseWriter, _ *http.Request) {
	s.serve(w, map[string]any{"resource": s.URL, "authorization_servers": []string{s.URL}})
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	s.serve(w, map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (s *Server) serve(w http.ResponseWriter, document map[string]any) {
	if s.Change != nil {
		s.Change(document)
	}
	answer(w, http.StatusOK, document)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var asked map[string]any
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_client_metadata"})
		return
	}
	asked["client_id"] = "registered"
	answer(w, http.StatusCreated, asked)
}

// authorize grants the access at once and redirects to the client.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	code := "code-" + strconv.Itoa(len(s.challenges))
	s.challenges[code] = q.Get("code_challenge")
	s.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {s.URL}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound) //nolint:gosec // a server of tests, which redirects to the tested client
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	grant := r.PostFormValue("grant_type")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[grant]++
	if s.Fail != nil && s.Fail(w) {
		return
	}
	switch {
	case grant == "client_credentials":
	case grant == "authorization_code" && s.challenges[r.PostFormValue("code")] == challenge(r.PostFormValue("code_verifier")):
	case grant == "refresh_token" && s.refresh != "" && r.PostFormValue("refresh_token") == s.refresh:
	default:
		s.reused = s.reused || grant == "refresh_token" && s.refresh != ""
		s.access, s.refresh = "", ""
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "The grant has ended."})
		return
	}
	s.issued++
	s.access = fmt.Sprintf("access-%d", s.issued)
	issued := map[string]any{"access_token": s.access, "token_type": "Bearer", "expires_in": Life, "scope": "api.lists.view"}
	if grant != "client_credentials" {
		s.refresh = fmt.Sprintf("refresh-%d", s.issued)
		issued["refresh_token"] = s.refresh
	}
	if s.lose == grant {
		s.lose = ""
		panic(http.ErrAbortHandler)
	}
	answer(w, http.StatusOK, issued)
}

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s *Server) revoke(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = append(s.revoked, r.PostFormValue("token"))
	if r.PostFormValue("token") == s.refresh {
		s.access, s.refresh = "", ""
	}
}

// endpoint lets requests with the valid access token through to s.Endpoint.
func (s *Server) endpoint(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	valid := s.access != "" && r.Header.Get("Authorization") == "Bearer "+s.access
	s.mu.Unlock()
	if !valid {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource", scope="api.lists.view"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.Endpoint(w, r)
}

func answer(w http.ResponseWriter, status int, document map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document) // a failure fails the test's request
}
