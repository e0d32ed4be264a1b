package oauth

import (
	"context"
	"net/http"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// provider implements op.Server of the OpenID Connect library, with one method for each
// endpoint and grant type. The library answers all other requests as not supported.
type provider struct {
	op.UnimplementedServer
	clients      clientFinder
	codes        codeExchange
	refreshing   refreshing
	revoker      revoker
	introspector introspector
	answers      tokenAnswers
	targets      targets
	keys         *signing.Keys
}

func newProvider(cfg Config, resources targets, tokens *tokenIssuer, own *Verifier) *provider {
	family := &families{
		stores: cfg.Stores, orgs: cfg.Orgs, members: cfg.Members, targets: resources, principals: cfg.Principals, clock: cfg.Clock, log: cfg.Log,
	}
	return &provider{
		clients:    clientFinder{cfg.Stores.Clients},
		codes:      codeExchange{family},
		refreshing: refreshing{families: family, docsURL: cfg.DocsURL},
		revoker:    revoker{families: family, own: own},
		introspector: introspector{
			stores: cfg.Stores, own: own, targets: resources, issuer: tokens.address, clock: cfg.Clock,
			examiner: bearer.NewAuthenticator(bearer.AuthenticatorConfig{
				Stores: cfg.Stores, Orgs: cfg.Orgs, Members: cfg.Members, Tokens: own, Clock: cfg.Clock,
			}),
		},
		answers: tokenAnswers{issuer: tokens, targets: resources},
		targets: resources, keys: cfg.Keys,
	}
}

// Keys returns the public keys that verify access tokens, as a JSON Web Key Set (RFC 7517
// section 5).
func (p *provider) Keys(context.Context, *op.Request[struct{}]) (*op.Response, error) {
	var set jose.JSONWebKeySet
	for _, key := range p.keys.PublicKeys() {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Key, KeyID: key.ID, Algorithm: string(jose.ES256), Use: "sig"})
	}
	response := op.NewResponse(set)
	response.Header = http.Header{"Cache-Control": {publicCache}}
	return response, nil
}
