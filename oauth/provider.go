package oauth

import (
	"context"
	"net/http"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// provider implements the library's server interface: one method for each endpoint and
// grant. The library answers all others as not supported.
type provider struct {
	op.UnimplementedServer
	server *Server
}

// Keys answers with the public keys (RFC 7517 section 5).
func (p *provider) Keys(context.Context, *op.Request[struct{}]) (*op.Response, error) {
	var set jose.JSONWebKeySet
	for _, key := range p.server.keys.Published() {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Key, KeyID: key.ID, Algorithm: string(jose.ES256), Use: "sig"})
	}
	response := op.NewResponse(set)
	response.Header = http.Header{"Cache-Control": {publicCache}}
	return response, nil
}
