package tools

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/content"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"
)

// Config configures the agent endpoint. AllowedOrigins, Version and Tracer may be empty;
// the other members are required. URLs must not end with a slash.
type Config struct {
	Catalogue *guardrails.Catalogue
	// MCPURL is the public URL of the agent endpoint's host, and the audience of its access
	// tokens.
	MCPURL string
	// AuthURL is the URL of the authorization server, the issuer of access tokens.
	AuthURL string
	// DocsURL is the root URL under which Mailhelm's documentation is served.
	DocsURL string
	// AllowedOrigins are the web origins whose pages may call the endpoint, in addition to
	// its own: "https://inspector.example".
	AllowedOrigins []string
	// Commit is the git commit from which the program was built. The health page shows it.
	Commit string
	// Version is the server's version that clients get when they connect; "" is sent as "0".
	Version string
	Clock   core.Clock
	Log     *slog.Logger
	// Tracer creates a span for each request; nil disables tracing.
	Tracer trace.Tracer
}

// Server serves the agent endpoint. It answers valid requests, or passes them to the MCP SDK,
// and refuses all others.
type Server struct {
	cfg      Config
	resource bearer.ProtectedResource
	metadata []byte // the protected-resource document as JSON
	origins  originSet
	spans    spans
	tools    *toolset
	protocol *protocol
	// answer answers a request that passed all checks. If it returns an error, it has written
	// nothing.
	answer func(http.ResponseWriter, *http.Request, *exchange) error
}

// New returns a server. It has a tool for each name of [Table] for which cfg.Catalogue has
// an operation. New fails for an invalid origin in cfg.
func New(cfg Config) (*Server, error) {
	s := &Server{
		cfg:   cfg,
		tools: &toolset{catalogue: cfg.Catalogue, docsURL: cfg.DocsURL, byName: make(map[string]*tool, len(table))},
	}
	s.answer = s.answerOrPass
	var err error
	s.spans = newSpans(cfg)
	if s.origins, err = newOriginSet(cfg.MCPURL, cfg.AllowedOrigins); err != nil {
		return nil, err
	}
	if s.protocol, err = newProtocol(s.tools, cfg.Version, cfg.Log); err != nil {
		return nil, err
	}
	for _, name := range table {
		s.Mount(name)
	}
	// The scopes are those of the tools. A client that does not read the scopes of a challenge
	// requests those of the document.
	s.resource = bearer.NewProtectedResource(cfg.MCPURL, cfg.AuthURL, "Mailhelm agent endpoint", cfg.DocsURL, s.tools.scopes)
	if s.metadata, err = content.Marshal(s.resource); err != nil {
		return nil, fmt.Errorf("protected-resource document: %w", err)
	}
	return s, nil
}

// Mount adds the operation with this name as a tool. It does nothing if the catalogue of
// operations does not have it. It must not be called after the first request.
func (s *Server) Mount(name string) {
	if op, ok := s.cfg.Catalogue.Operation(name); ok {
		s.tools.mount(op)
	}
}

// AddTool adds a tool without an operation, for tests of the protocol. The SDK answers its
// calls, and they do not pass the checks of package guardrails. The handler must return a
// new result for each call, because the endpoint modifies results. AddTool must not be
// called after the first request. It fails for a description that cannot be encoded.
func (s *Server) AddTool(described *mcp.Tool, handler mcp.ToolHandler) error {
	encoded, err := json.Marshal(described)
	if err != nil {
		return fmt.Errorf("tool %s: %w", described.Name, err)
	}
	s.protocol.sdk.AddTool(described, handler)
	s.tools.add(&tool{name: described.Name, encoded: func() (json.RawMessage, error) { return encoded, nil }})
	return nil
}

// Paths returns all paths that the endpoint serves.
func Paths() []string {
	return []string{endpointPath, healthPath, metadataPath, endpointMetadataPath}
}

// Handler returns the HTTP handler of the endpoint. The HTTP server must limit the time and
// size of headers and the time for a body.
func (s *Server) Handler() http.Handler { return s }
