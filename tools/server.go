package tools

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/content"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"
)

// Config configures the agent endpoint. AllowedOrigins, Version and Tracer may be empty; the
// other members are required. Addresses have no slash at the end.
type Config struct {
	Catalogue *guardrails.Catalogue
	// MCPURL is the public address of this host and the audience of its tokens.
	MCPURL string
	// AuthURL is the issuer of access tokens.
	AuthURL string
	// DocsURL is the root of the served documentation.
	DocsURL string
	// AllowedOrigins are the web origins whose pages may call, in addition to this
	// host's own: "https://inspector.example".
	AllowedOrigins []string
	// Commit identifies the build.
	Commit string
	// Version is the server's version in the protocol's handshake.
	Version string
	Clock   core.Clock
	Log     *slog.Logger
	// Tracer makes a span of each request; nil makes none.
	Tracer trace.Tracer
}

// Server serves the agent endpoint. It passes valid requests to the protocol and refuses the
// others.
type Server struct {
	cfg      Config
	resource access.ProtectedResource
	metadata []byte // the resource's document as JSON
	origins  originSet
	spans    spans
	tools    *toolset
	protocol *protocol
}

// New returns a server with every tool of the table whose operation is in the catalogue.
func New(cfg Config) (*Server, error) {
	s := &Server{
		cfg:      cfg,
		resource: access.NewProtectedResource(cfg.MCPURL, cfg.AuthURL, "Mailhelm agent endpoint", cfg.DocsURL, core.AllScopes()),
		tools:    &toolset{catalogue: cfg.Catalogue, docsURL: cfg.DocsURL, byName: make(map[string]*tool, len(table))},
	}
	metadata, err := content.Marshal(s.resource)
	if err != nil {
		return nil, fmt.Errorf("protected-resource document: %w", err)
	}
	s.metadata = metadata
	s.spans = newSpans(cfg)
	if s.origins, err = newOriginSet(cfg.MCPURL, cfg.AllowedOrigins); err != nil {
		return nil, err
	}
	s.protocol = newProtocol(s.tools, cfg.Version, cfg.Log)
	for _, name := range table {
		if err := s.Mount(name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Mount adds an operation as a tool, if the catalogue has it. It must not be called after
// the first request.
func (s *Server) Mount(name string) error {
	op, ok := s.cfg.Catalogue.Operation(name)
	if !ok {
		return nil
	}
	t, err := s.tools.mount(op)
	if err != nil {
		return err
	}
	s.protocol.sdk.AddTool(t.described, s.tools.handler(t))
	return nil
}

// AddTool adds a tool that is not an operation, for tests of the protocol. The handler runs
// without the rails. It must return a new result each time, because the endpoint modifies
// it. AddTool must not be called after the first request.
func (s *Server) AddTool(described *mcp.Tool, handler mcp.ToolHandler) {
	s.tools.byName[described.Name] = &tool{described: described}
	s.protocol.sdk.AddTool(described, handler)
}

// Handler returns the endpoint. The HTTP server must limit the time and size of headers and
// the time for a body.
func (s *Server) Handler() http.Handler { return s }
