package docs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	// Log gets an error if a page cannot be rendered.
	Log *slog.Logger
}

// New returns the handler of the pages. It serves the path of DocsURL and everything below
// it, and redirects "/" to the start page and RootFiles to the files of the same names below
// that path. A page is rendered at its first request.
func New(cfg Config) (*Site, error) {
	root, err := url.Parse(cfg.DocsURL)
	if err != nil {
		return nil, fmt.Errorf("docs: address: %w", err)
	}
	prefix := strings.TrimSuffix(root.Path, "/")
	return &Site{prefix: prefix, log: cfg.Log, searching: make(chan struct{}, maxSearches), content: sync.OnceValues(func() (*content, error) { return newContent(cfg, prefix) })}, nil
}

// Site serves the documentation.
type Site struct {
	prefix  string
	content func() (*content, error)
	log     *slog.Logger
	// searching has an entry for each search that runs now.
	searching chan struct{}
}

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

// policy is the content security policy, which allows only files of this site. The pages
// contain no text of users, so the policy is an additional protection.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ServeHTTP answers with a page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	if s.prefix != "" && (r.URL.Path == "/" || slices.Contains(RootFiles, r.URL.Path)) {
		h.Set("Location", s.prefix+strings.TrimSuffix(r.URL.Path, "/"))
		w.WriteHeader(http.StatusFound)
		return
	}
	s.serve(w, r)
}

// serve writes the page at the request's path. For an unknown path it writes a page with
// status 404, and a text with status 500 if a page cannot be rendered.
func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	path, below := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/"), s.prefix)
	if below && path == searchPath {
		s.serveSearch(w, r)
		return
	}
	found, ok, err := s.find(path, below)
	if err != nil {
		s.fail(w, r, path, err)
		return
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

// maxSearches is the number of searches that run at the same time. A search needs
// no sign-in and takes a few milliseconds and 2 MB, so many at a time would slow down the
// rest of the server.
const maxSearches = 4

// serveSearch writes the page with the results of a search. It writes nothing to a client
// that disconnected while it waited for other searches.
func (s *Site) serveSearch(w http.ResponseWriter, r *http.Request) {
	results, err := s.limitedSearch(r)
	if r.Context().Err() != nil {
		return
	}
	if err != nil {
		s.fail(w, r, searchPath, err)
		return
	}
	w.Header().Set("Content-Type", results.contentType)
	w.Header().Set("Cache-Control", "no-store")
	send(w, http.StatusOK, results.body)
}

// limitedSearch returns the page with the results of a search. If too many searches run, it
// waits until one of them ends, or fails when the client disconnects. Writing the page is not
// a part of the search, because a client that reads slowly would keep others waiting.
func (s *Site) limitedSearch(r *http.Request) (page, error) {
	select {
	case s.searching <- struct{}{}:
		defer func() { <-s.searching }()
	case <-r.Context().Done():
		return page{}, context.Cause(r.Context())
	}
	return s.search(r)
}

// fail logs an error and answers with status 500.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, path string, err error) {
	s.log.ErrorContext(r.Context(), "page of the documentation", slog.String("path", path), slog.Any("err", err))
	http.Error(w, "The page cannot be shown. The server's log has the reason.", http.StatusInternalServerError)
}

// find returns the page at a path below the prefix, and whether there is one. For an unknown
// path, or if below is false, it returns the page to answer with status 404.
func (s *Site) find(path string, below bool) (page, bool, error) {
	c, err := s.content()
	if err != nil {
		return page{}, false, err
	}
	render, ok := c.pages[path]
	if !below || !ok {
		render, ok = c.missing, false
	}
	found, err := render()
	return found, ok, err
}

// send writes a complete response. It ignores errors, which mean that the client has
// disconnected.
func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
