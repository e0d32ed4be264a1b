package access

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// GetScopesIn has no fields.
type GetScopesIn struct{}

// CredentialScopes is the result of credentials_get_scopes: a credential with its scopes.
type CredentialScopes struct {
	KeyID       string           `json:"key_id" jsonschema:"format=uuid"`
	Prefix      string           `json:"prefix" voice:"ours" jsonschema_description:"Environment marker and first eight characters, to tell credentials apart."`
	Environment core.Environment `json:"environment" jsonschema:"enum=live,enum=test"`
	Scopes      []string         `json:"scopes" voice:"ours"`
}

// CredentialsGetScopes returns the operation that reads the scopes of the calling
// credential. Every valid credential may call it.
func CredentialsGetScopes() core.Operation {
	return core.Declare(core.Op[GetScopesIn, CredentialScopes]{
		Name:    "credentials_get_scopes",
		Title:   "Read the credential's scopes",
		Purpose: "Returns the scopes and the environment of the credential of this request. It returns nothing about other credentials.",
		Effect:  core.Reads,
		Cost:    core.Light,
		Do: func(_ context.Context, c *core.Call, _ GetScopesIn) (CredentialScopes, error) {
			credential := c.Principal.Credential
			return CredentialScopes{
				KeyID: credential.ID, Prefix: identifyingPart(credential.Name),
				Environment: credential.Environment, Scopes: c.Principal.Scopes.Strings(),
			}, nil
		},
	})
}

// identifyingPart returns the first characters of a credential's public name: its marker,
// such as "sk_live_", and the next eight characters.
func identifyingPart(name string) string {
	const marker, identifying = len("sk_live_"), 8 // all markers are this long: sk_live_, oc_test_
	return name[:min(len(name), marker+identifying)]
}
