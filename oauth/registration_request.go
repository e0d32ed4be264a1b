package oauth

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/mailhelm/mailhelm/core"
	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// invalidMetadataType is the error code for invalid client metadata (RFC 7591 section
// 3.2.2).
const invalidMetadataType = "invalid_client_metadata"

// The methods of client authentication at the token endpoint.
const (
	authBasic = "client_secret_basic"
	authPost  = "client_secret_post"
	authNone  = "none"
)

// registrationRequest has the members of client metadata that registration uses (RFC 7591
// section 2). Other members are ignored, as the RFC requires.
type registrationRequest struct {
	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	Scope         string   `json:"scope"`
}

func invalidMetadata(description string) *refusal {
	return refuse(http.StatusBadRequest, &oidc.Error{ErrorType: invalidMetadataType}, description)
}

// readRegistration parses and checks client metadata and sets the defaults of RFC 7591
// section 2. Package core/access checks redirect URIs and the name when it stores the
// client.
func readRegistration(body []byte) (registrationRequest, *refusal) {
	var asked registrationRequest
	if core.CheckJSON(body) != nil || json.Unmarshal(body, &asked) != nil {
		return asked, invalidMetadata("The body must be one JSON object with the types of RFC 7591, and no member twice.")
	}
	if asked.AuthMethod == "" {
		asked.AuthMethod = authBasic
	}
	if !slices.Contains([]string{authBasic, authPost, authNone}, asked.AuthMethod) {
		return asked, invalidMetadata("`token_endpoint_auth_method` must be client_secret_basic, client_secret_post or none.")
	}
	if len(asked.GrantTypes) == 0 {
		asked.GrantTypes = openGrants()
	}
	if !slices.Contains(asked.GrantTypes, string(oidc.GrantTypeCode)) || slices.ContainsFunc(asked.GrantTypes, notOpen) {
		return asked, invalidMetadata("`grant_types` must have authorization_code, and may have refresh_token but no other value.")
	}
	if slices.ContainsFunc(asked.ResponseTypes, func(t string) bool { return t != "code" }) {
		return asked, invalidMetadata("`response_types` must have only code.")
	}
	return asked, nil
}

func notOpen(grant string) bool { return !slices.Contains(openGrants(), grant) }

// scopes returns the scopes that the client may request: those in the metadata, or all
// scopes if there are none. It fails for an unknown scope.
func (r registrationRequest) scopes() (core.Scopes, *refusal) {
	scopes, refused := grantedScopes(r.Scope, core.AllScopes())
	if refused != nil {
		refused.err.ErrorType = invalidMetadataType
	}
	return scopes, refused
}
