// Package oauth is the authorization server. It checks what clients ask of people, issues
// tokens to registered clients and revokes them. It publishes the keys that sign tokens
// and the metadata for discovery. Its verifier checks tokens for the resource hosts.
//
// The protocol's plumbing is op.Server of zitadel/oidc, which its authors call
// experimental; no other package imports it. In front of it stands what it does
// not do: the form of a request ([form]), errors and their statuses ([refusal]),
// cross-origin rules. A request passes, in this order: request id and CORS
// (handler.go), form and client authentication method (token_endpoint.go),
// routing by grant (the library), the client's secret (clients.go), the grant
// (client_credentials.go, code_exchange.go, refresh.go), the token (issue.go).
//
// A client is one that an organization registered, one that a metadata document
// describes, which is read when a person is asked (asking_client.go, through the
// adapter clientdocument), or one that registered itself (registration.go). The
// latter two belong to no organization; each organization may block them.
//
// What a person allowed is an access.Grant, the root of a family: one code, the
// refresh tokens that follow each other, and their access tokens (family.go). The
// pages on which people decide are consent and login; they call
// [Authorizations.ReadAuthorization], [Authorizations.Approve] and
// [Authorizations.Deny].
//
// It is one package of 2,600 lines because all endpoints share the reading of forms, the
// refusals and the issuer of tokens, which no other package may use.
//
// It does not know users' permissions, keep clients or judge API keys: that is
// core/access. It does not serve the documents of RFC 9728, which belong to the
// resource hosts.
package oauth
