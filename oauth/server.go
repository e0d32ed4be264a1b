package oauth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth/proxies"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The paths of the authorization server, below its issuer.
const (
	TokenPath      = "/oauth/token"  //nolint:gosec // a path, not a credential
	RevocationPath = "/oauth/revoke" // RFC 7009
	// IntrospectionPath is served if the configuration allows introspection.
	IntrospectionPath = "/oauth/introspect" // RFC 7662
	// RegistrationPath is served only when clients may register themselves.
	RegistrationPath = "/oauth/register" // RFC 7591
	KeySetPath       = "/.well-known/jwks.json"
	MetadataPath     = "/.well-known/oauth-authorization-server" // RFC 8414 section 3
)

// Config configures the authorization server and the verifier of its tokens.
type Config struct {
	// Issuer is the origin that clients reach the server by, without a slash at the
	// end. Every token and document has it in exactly this form.
	Issuer string
	// APIResource and AgentResource are the addresses of the two resource hosts,
	// the values of `resource` and `aud`.
	APIResource   string
	AgentResource string
	// AuthorizeURL is where people consent: the page that calls
	// [Authorizations.ReadAuthorization] and [Authorizations.Approve].
	AuthorizeURL string
	// DocsURL is the documentation that refusals link to; "" for none.
	DocsURL string
	// Introspection allows confidential clients to introspect tokens.
	Introspection bool
	// Proxies are trusted to name the network of a request.
	Proxies proxies.Trusted

	Stores  access.Stores
	Orgs    access.Orgs
	Members access.Ceilings
	// Documents reads the metadata documents of clients whose id is an address; nil
	// refuses such clients.
	Documents access.DocumentReader
	// Registrations registers clients that describe themselves; nil refuses them.
	Registrations *access.Registrations
	// Principals caches the principals of this process; a revocation removes them at
	// once. It is nil in a process without a resource host.
	Principals *access.Authenticator
	Keys       *signing.Keys
	Clock      core.Clock
	Log        *slog.Logger
}

// Server is the authorization server: the endpoints for clients as a handler, and the
// authorizations that the consent page asks people for.
type Server struct {
	*Authorizations
	handler http.Handler
}

// New returns an authorization server. It fails for an address of the configuration that
// tokens cannot hold.
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

// Handler serves [TokenPath], [RevocationPath], [KeySetPath] and [MetadataPath]; every other path
// is answered 404.
func (s *Server) Handler() http.Handler { return s.handler }

// checkAddresses returns the canonical addresses of the resources. It fails when an address
// of the configuration is not in the form that tokens have.
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
