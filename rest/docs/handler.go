package docs

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/guardrails"
)

// Config has the content of the pages. All fields are required. Addresses have no trailing
// slash.
type Config struct {
	Catalogue *guardrails.Catalogue
	// Tools has the names of the operations that are also MCP tools.
	Tools []string
	// BaseURL, AuthURL, AppURL, MCPURL and FetchURL are the public addresses of the API, the
	// authorization server, the app, the agent endpoint and the fetch host.
	BaseURL, AuthURL, AppURL, MCPURL, FetchURL string
	// DocsURL is the address of this documentation. Its path is the prefix of all pages.
	DocsURL string
	Commit  string
}

// New returns the handler of the pages. It serves the path of DocsURL and everything below
// it, and redirects "/" to the start page. A page is rendered at its first request.
func New(cfg Config) (http.Handler, error) {
	root, err := url.Parse(cfg.DocsURL)
	if err != nil {
		return nil, fmt.Errorf("docs: address: %w", err)
	}
	s := &site{prefix: strings.TrimSuffix(root.Path, "/"), pages: map[string]rendering{}}
	s.addPages(cfg)
	return s, nil
}

// site has all pages of the documentation, by their path below the path of DocsURL.
type site struct {
	prefix  string
	pages   map[string]rendering
	missing rendering
}

// rendering returns a page. It renders the page at the first call. It fails if a template
// fails, which is the same for every request; TestEveryPageIsReached renders every page.
type rendering func() (page, error)

// page is a prepared response.
type page struct {
	contentType string
	body        []byte
	etag        string
}

// newPage returns a page whose ETag is the hash of its body.
func newPage(contentType string, body []byte) page {
	sum := sha256.Sum256(body)
	return page{contentType, body, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// policy is the content security policy, which allows only the stylesheet. The pages
// contain no text of users, so the policy is an additional protection.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers with a page.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Path == "/" && s.prefix != "" {
		h.Set("Location", s.prefix)
		w.WriteHeader(http.StatusFound)
		return
	}
	s.serve(w, r)
}

// serve writes the page at the request's path. For an unknown path it writes a page with
// status 404. It panics if a template fails.
func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	path, below := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/"), s.prefix)
	render, ok := s.pages[path]
	if !below || !ok {
		render, ok = s.missing, false
	}
	found, err := render()
	if err != nil {
		panic(fmt.Errorf("docs: %w", err))
	}
	h := w.Header()
	h.Set("Content-Type", found.contentType)
	if !ok {
		h.Set("Cache-Control", "no-store")
		send(w, http.StatusNotFound, found.body)
		return
	}
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", found.etag)
	if r.Header.Get("If-None-Match") == found.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	send(w, http.StatusOK, found.body)
}

// send writes a complete response. It ignores errors, which mean that the client has
// disconnected.
func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
