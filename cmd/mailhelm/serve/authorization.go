package serve

import (
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/oauth/clientdocument"
	"github.com/mailhelm/mailhelm/oauth/consent"
)

// authorization returns the configuration of the authorization server. It also creates this
// process's cache of authenticated callers and stores it in s.principals. A worker does not
// call it.
func authorization(cfg config.Config, public config.Public, s *stores) (oauth.Config, error) {
	networks, err := cfg.DocumentNetworks()
	if err != nil {
		return oauth.Config{}, fmt.Errorf("client documents: %w", err)
	}
	trusted, err := cfg.Proxies()
	if err != nil {
		return oauth.Config{}, err
	}
	tokens := oauth.Config{
		Issuer: public.Auth, APIResource: public.API, AgentResource: public.MCP,
		AuthorizeURL: public.App + consent.Path, DocsURL: public.Docs,
		Introspection: !cfg.NoIntrospection, Proxies: trusted,
		Stores: s.db.Access(), Orgs: s.db.Orgs(), Members: members.Ceilings{Members: s.db.Members()},
		Documents: clientdocument.New(clientdocument.Config{
			Allowed: networks, RootCAs: cfg.ClientDocumentCAs, Clock: cfg.Clock, Log: cfg.Log,
		}),
		Keys: s.signing, Clock: cfg.Clock, Log: cfg.Log,
	}
	if cfg.DynamicRegistration {
		tokens.Registrations = access.NewRegistrations(tokens.Stores.Clients, tokens.Stores.OpenClients, cfg.Clock)
	}
	verifier, err := oauth.NewVerifier(tokens)
	if err != nil {
		return oauth.Config{}, err
	}
	tokens.Principals = bearer.NewAuthenticator(bearer.AuthenticatorConfig{
		Stores: tokens.Stores, Orgs: tokens.Orgs, Members: tokens.Members, Tokens: verifier, Clock: cfg.Clock,
	})
	s.principals = tokens.Principals
	tokens.Keys.OnRevoke(tokens.Principals.ForgetTokens)
	return tokens, nil
}
