package rest

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"go.opentelemetry.io/otel/trace"
)

// Config is what the public API needs. All members but Tracer are required. Addresses have
// no slash at the end.
type Config struct {
	Catalogue *guardrails.Catalogue
	// BaseURL is the public address of this host. Links to next pages begin with it.
	BaseURL string
	// AuthURL is the issuer of access tokens.
	AuthURL string
	// DocsURL is the root of the served documentation.
	DocsURL string
	// Commit identifies the build.
	Commit string
	Clock  core.Clock
	Log    *slog.Logger
	// Tracer makes a span of each request; nil makes none.
	Tracer trace.Tracer
}

// Server serves the public API.
type Server struct {
	cfg      Config
	resource access.ProtectedResource
	mounts   []*mount
	patterns map[mounted]string // as the routes write them, with {name}
	tracing  *Tracing
	engine   *gin.Engine
}

// mounted is a method and a path in Gin's syntax.
type mounted struct{ method, path string }

// New returns a server with every route of the API. It fails when a route names an operation
// that the catalogue lacks, or a path parameter that the operation lacks.
func New(cfg Config) (*Server, error) {
	return newServer(cfg, routes)
}

// newServer is New with the table of routes as a parameter, for tests.
func newServer(cfg Config, table []Route) (*Server, error) {
	s := &Server{
		cfg:      cfg,
		patterns: map[mounted]string{},
		resource: access.NewProtectedResource(cfg.BaseURL, cfg.AuthURL, "Mailhelm public API", cfg.DocsURL, core.AllScopes()),
	}
	for _, route := range table {
		m, err := s.mount(route)
		if err != nil {
			return nil, fmt.Errorf("route %s %s: %w", route.Method, route.Path, err)
		}
		s.mounts = append(s.mounts, m)
	}
	openAPI, err := s.openAPI()
	if err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
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
	s.get("/v1/openapi.json", openAPI.serve)
	s.get("/openapi.json", openAPI.serve)
	s.get(access.ProtectedResourcePath, metadata.serve)
	for _, m := range s.mounts {
		s.handle(m.Method, m.Path, s.call(m))
	}
	return s, nil
}

// Handler returns the API for an HTTP server. The package comment has the requirements on
// that server.
func (s *Server) Handler() http.Handler { return s.engine }

// newEngine returns Gin as a bare router. It neither cleans paths nor redirects, and leaves
// path values encoded: Gin's decoding would read a plus sign in an address as a space.
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

// get mounts h for GET and HEAD at a path.
func (s *Server) get(path string, h gin.HandlerFunc) { s.handle(http.MethodGet, path, h) }

// handle mounts h at a method and a path. GET also serves HEAD (RFC 9110 section 9.3.2);
// net/http omits the body.
func (s *Server) handle(method, path string, h gin.HandlerFunc) {
	methods := []string{method}
	if method == http.MethodGet {
		methods = append(methods, http.MethodHead)
	}
	for _, method := range methods {
		s.engine.Handle(method, ginPath(path), h)
		s.patterns[mounted{method, ginPath(path)}] = path
	}
}

// pattern returns the route's path with {name} for its parameters, or "" without a route.
func (s *Server) pattern(c *gin.Context) string {
	return s.patterns[mounted{c.Request.Method, c.FullPath()}]
}

// ginPath replaces each {name} by a name for its position: Gin requires one name for each
// position, and routes name a segment by its meaning.
func ginPath(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = ":" + strconv.Itoa(i)
		}
	}
	return strings.Join(segments, "/")
}
