package oauth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth/proxies"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The URL paths of the authorization server's endpoints, below its issuer.
const (
	TokenPath      = "/oauth/token"  //nolint:gosec // a path, not a credential
	RevocationPath = "/oauth/revoke" // RFC 7009
	// IntrospectionPath is served only if Config.Introspection is true.
	IntrospectionPath = "/oauth/introspect" // RFC 7662
	// RegistrationPath is served only if Config.Registrations is set.
	RegistrationPath = "/oauth/register" // RFC 7591
	KeySetPath       = "/.well-known/jwks.json"
	MetadataPath     = "/.well-known/oauth-authorization-server" // RFC 8414 section 3
)

// Config configures the authorization server and the verifier of its tokens.
type Config struct {
	// Issuer is the origin of the authorization server, without a trailing slash. Every
	// token and metadata document contains it in exactly this form.
	Issuer string
	// APIResource and AgentResource are the URLs of the API and of the agent endpoint, the
	// values of `resource` and `aud`.
	APIResource   string
	AgentResource string
	// AuthorizeURL is the URL of the consent page, which calls
	// [Authorizations.ReadAuthorization] and [Authorizations.Approve].
	AuthorizeURL string
	// DocsURL is the URL of the documentation, to which errors link; "" for no links.
	DocsURL string
	// Introspection enables the endpoint at which confidential clients introspect tokens.
	Introspection bool
	// Proxies are the trusted proxies that state the client address of a request.
	Proxies proxies.Trusted

	Stores  access.Stores
	Orgs    access.Orgs
	Members bearer.Ceilings
	// Documents reads the metadata documents of clients whose client id is a URL. If it is
	// nil, such clients are refused.
	Documents access.DocumentReader
	// Registrations stores clients that register themselves. If it is nil, the server has no
	// registration endpoint.
	Registrations *access.Registrations
	// Principals is this process's cache of authenticated callers, from which a revocation
	// removes entries at once. It is nil in a process that serves neither the API nor the
	// agent endpoint.
	Principals *bearer.Authenticator
	Keys       *signing.Keys
	Clock      core.Clock
	Log        *slog.Logger
}

// Server is the authorization server. The method Handler returns its endpoints for clients.
// The embedded Authorizations has the methods for the consent page.
type Server struct {
	*Authorizations
	handler http.Handler
}

// New returns an authorization server. It fails if a URL of the configuration is invalid or
// the issuer is not a canonical origin.
func New(cfg Config) (*Server, error) {
	resources, err := checkAddresses(cfg)
	if err != nil {
		return nil, err
	}
	tokens, err := newTokenIssuer(cfg.Issuer, cfg.Keys, cfg.Clock)
	if err != nil {
		return nil, err
	}
	own, err := NewVerifier(cfg)
	if err != nil {
		return nil, err
	}
	if _, err := canonicalAddress(cfg.AuthorizeURL); err != nil {
		return nil, fmt.Errorf("authorize URL %q: %w", cfg.AuthorizeURL, err)
	}
	metadata, err := encodeMetadata(cfg, resources)
	if err != nil {
		return nil, err
	}
	library := op.RegisterServer(newProvider(cfg, resources, tokens, own), op.Endpoints{
		Token:      op.NewEndpoint(TokenPath),
		Revocation: op.NewEndpoint(RevocationPath),
		JwksURI:    op.NewEndpoint(KeySetPath),

		Introspection: op.NewEndpoint(IntrospectionPath),
	}, op.WithServerCORSOptions(nil))
	return &Server{
		Authorizations: &Authorizations{
			clients: clientFinder{cfg.Stores.Clients}, documents: cfg.Documents, stores: cfg.Stores,
			targets: resources, issuer: cfg.Issuer, clock: cfg.Clock, log: cfg.Log,
		},
		handler: routes(cfg, library, metadata),
	}, nil
}

// Handler returns the handler of the endpoints that OAuth clients call. It includes only
// endpoints that the configuration enables, and answers every other path with 404.
func (s *Server) Handler() http.Handler { return s.handler }

// checkAddresses returns the canonical URLs of the API and the agent endpoint. It fails if
// one of them or the issuer is invalid, or if the two are equal.
func checkAddresses(cfg Config) (targets, error) {
	issuer, err := canonicalAddress(cfg.Issuer)
	if err != nil {
		return targets{}, fmt.Errorf("issuer %q: %w", cfg.Issuer, err)
	}
	if issuer != cfg.Issuer || !isOrigin(issuer) {
		return targets{}, fmt.Errorf("issuer %q: must be an origin in canonical form, without path or slash at the end", cfg.Issuer)
	}
	api, err := canonicalAddress(cfg.APIResource)
	if err != nil {
		return targets{}, fmt.Errorf("API resource %q: %w", cfg.APIResource, err)
	}
	agent, err := canonicalAddress(cfg.AgentResource)
	if err != nil {
		return targets{}, fmt.Errorf("agent resource %q: %w", cfg.AgentResource, err)
	}
	if api == agent {
		return targets{}, errors.New("the API and the agent endpoint need addresses of their own: their tokens must not be interchangeable")
	}
	return targets{api: api, agent: agent}, nil
}
