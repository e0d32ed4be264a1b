package rest

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/guardrails"
	"go.opentelemetry.io/otel/trace"
)

// Config has the dependencies of the public API. All fields except Tracer are required.
// URLs have no trailing slash.
type Config struct {
	Catalogue *guardrails.Catalogue
	// BaseURL is the public URL of the API. The links to next pages begin with it.
	BaseURL string
	// AuthURL is the URL of the authorization server, the issuer of access tokens.
	AuthURL string
	// DocsURL is the URL of the documentation, to which problem documents link.
	DocsURL string
	// Commit identifies the build.
	Commit string
	Clock  core.Clock
	Log    *slog.Logger
	// Tracer creates an OpenTelemetry span for each request; nil means no spans.
	Tracer trace.Tracer
}

// Server serves the public API.
type Server struct {
	cfg      Config
	resource bearer.ProtectedResource
	mounts   []*mount
	patterns map[routeKey]string // paths with {name}, by HTTP method and path in Gin's syntax
	tracing  *Tracing
	engine   *gin.Engine
}

// routeKey is an HTTP method and a path in Gin's syntax.
type routeKey struct{ method, path string }

// New returns a server with all routes of the API. It fails if the catalogue lacks the
// operation of a route, or the operation's input lacks a path parameter.
func New(cfg Config) (*Server, error) {
	return newServer(cfg, routes)
}

// newServer is New with the given table of routes. Tests use other routes than those of the
// API.
func newServer(cfg Config, table []Route) (*Server, error) {
	s := &Server{
		cfg:      cfg,
		patterns: map[routeKey]string{},
		resource: bearer.NewProtectedResource(cfg.BaseURL, cfg.AuthURL, "Mailhelm public API", cfg.DocsURL, core.AllScopes()),
	}
	for _, route := range table {
		m, err := s.mount(route)
		if err != nil {
			return nil, fmt.Errorf("route %s %s: %w", route.Method, route.Path, err)
		}
		s.mounts = append(s.mounts, m)
	}
	openAPI := s.serveOpenAPI()
	metadata, err := newDocument(s.resource)
	if err != nil {
		return nil, fmt.Errorf("protected-resource document: %w", err)
	}
	s.engine = newEngine()
	s.engine.Use(s.identify)
	if cfg.Tracer != nil {
		s.tracing = NewTracing(cfg.Tracer, cfg.BaseURL, cfg.Clock)
		s.engine.Use(s.trace)
	}
	s.engine.Use(s.recoverPanic)
	s.engine.NoRoute(s.answerNoRoute)
	s.engine.NoMethod(s.answerNoMethod)
	s.get("/v1/_health", s.health)
	s.get("/v1/openapi.json", openAPI)
	s.get("/openapi.json", openAPI)
	s.get(bearer.ProtectedResourcePath, metadata.serve)
	for _, m := range s.mounts {
		s.handle(m.Method, m.Path, s.call(m))
	}
	return s, nil
}

// Handler returns the HTTP handler of the API. The package comment says what it requires of
// the HTTP server.
func (s *Server) Handler() http.Handler { return s.engine }

// Paths returns the paths of all routes, with {name} for parameters, sorted.
func (s *Server) Paths() []string {
	return slices.Compact(slices.Sorted(maps.Values(s.patterns)))
}

// newEngine returns a Gin router without middleware. It neither cleans nor redirects paths.
// It does not decode path parameters, because Gin's decoding would read a plus sign in an
// email address as a space.
func newEngine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.UseEscapedPath = true
	e.UnescapePathValues = false
	e.RedirectTrailingSlash = false
	e.RedirectFixedPath = false
	e.HandleMethodNotAllowed = true
	return e
}

// get registers h for GET and HEAD requests at a path.
func (s *Server) get(path string, h gin.HandlerFunc) { s.handle(http.MethodGet, path, h) }

// handle registers h for a method and a path. A handler for GET also serves HEAD (RFC 9110
// section 9.3.2); net/http omits the body.
func (s *Server) handle(method, path string, h gin.HandlerFunc) {
	methods := []string{method}
	if method == http.MethodGet {
		methods = append(methods, http.MethodHead)
	}
	for _, method := range methods {
		s.engine.Handle(method, ginPath(path), h)
		s.patterns[routeKey{method, ginPath(path)}] = path
	}
}

// pattern returns the path of the request's route with {name} for parameters, or "" without
// a route.
func (s *Server) pattern(c *gin.Context) string {
	return s.patterns[routeKey{c.Request.Method, c.FullPath()}]
}

// ginPath replaces each {name} in a path by a colon and the number of its segment:
// /v1/contacts/{email} becomes /v1/contacts/:3. Gin requires that routes with a common
// prefix use the same parameter name after it. The names in braces differ between routes.
func ginPath(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = ":" + strconv.Itoa(i)
		}
	}
	return strings.Join(segments, "/")
}
