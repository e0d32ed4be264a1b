// Package oauth is the authorization server. It checks authorization requests, issues
// tokens to clients and revokes them. It publishes the public keys of the tokens and the
// metadata for discovery. Its verifier checks access tokens for the API and the MCP
// endpoint.
//
// It uses op.Server of zitadel/oidc to route requests and encode responses. The authors of
// zitadel/oidc call that interface experimental, so no other package imports it. This
// package adds what the library lacks: strict forms ([readForm]), errors with their
// statuses ([refusal]) and cross-origin rules. A request passes in this order: request id
// and CORS (handler.go), form and client authentication method (token_endpoint.go), routing
// by grant type (the library), the client's secret (clients.go), the grant type
// (client_credentials.go, code_exchange.go, refresh.go), the token (issue.go).
//
// There are three kinds of clients: one that an organization registered, one that a
// metadata document describes (asking_client.go, clientdocument), and one that registered
// itself (registration.go). The last two kinds belong to no organization; each organization
// may block them.
//
// An access.Grant stores what a person approved. Its family is one code, the refresh tokens
// that replace each other, and their access tokens (family.go). The pages for people are in
// consent and login. They call [Authorizations.ReadAuthorization], [Authorizations.Approve]
// and [Authorizations.Deny].
//
// It does not manage users' permissions, clients or API keys: core/access does. It does not
// serve the metadata of protected resources (RFC 9728): the API and the agent endpoint do.
//
// # Size
//
// It is one package because all endpoints share the reading of forms, the refusals and the
// issuer of tokens, which no other package may use.
package oauth
