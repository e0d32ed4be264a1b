package oauth

import (
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// serverMetadata is the discovery document (RFC 8414 section 2). It lists what
// works and nothing else.
type serverMetadata struct {
	Issuer             string   `json:"issuer"`
	TokenEndpoint      string   `json:"token_endpoint"`
	KeySet             string   `json:"jwks_uri"`
	Scopes             []string `json:"scopes_supported"`
	GrantTypes         []string `json:"grant_types_supported"`
	ResponseTypes      []string `json:"response_types_supported"`
	TokenAuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
	ProtectedResources []string `json:"protected_resources"` // RFC 9728 section 4
}

func encodeMetadata(issuer string, resources targets) ([]byte, error) {
	doc := serverMetadata{
		Issuer:        issuer,
		TokenEndpoint: issuer + TokenPath,
		KeySet:        issuer + KeySetPath,
		// No grant here uses the authorization endpoint. The RFC calls the member
		// required and also wants empty ones left out; clients that check for it
		// decide the matter.
		ResponseTypes:      []string{},
		TokenAuthMethods:   []string{"client_secret_basic", "client_secret_post"},
		ProtectedResources: []string{resources.api, resources.agent},
	}
	for _, info := range core.ScopeCatalogue() {
		doc.Scopes = append(doc.Scopes, string(info.Scope))
	}
	for _, grant := range grants {
		doc.GrantTypes = append(doc.GrantTypes, string(grant))
	}
	body, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode server metadata: %w", err)
	}
	return append(body, '\n'), nil
}
