package oauth

import (
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// serverMetadata is the metadata of the authorization server (RFC 8414 section 2). It lists
// only what the configuration enables.
type serverMetadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	IntrospectionEndpoint string   `json:"introspection_endpoint,omitempty"`
	RegistrationEndpoint  string   `json:"registration_endpoint,omitempty"` // RFC 7591
	KeySet                string   `json:"jwks_uri"`
	Scopes                []string `json:"scopes_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	ResponseModes         []string `json:"response_modes_supported"`
	TokenAuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	RevocationAuthMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectAuthMethods []string `json:"introspection_endpoint_auth_methods_supported,omitempty"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	IssuerInAnswers       bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207 section 3
	ProtectedResources    []string `json:"protected_resources"`                            // RFC 9728 section 4
	MetadataDocuments     bool     `json:"client_id_metadata_document_supported"`
}

// encodeMetadata returns the metadata of the authorization server for this configuration,
// as JSON.
func encodeMetadata(cfg Config, resources targets) ([]byte, error) {
	authMethods := []string{"client_secret_basic", "client_secret_post", "none"}
	doc := serverMetadata{
		Issuer:                cfg.Issuer,
		AuthorizationEndpoint: cfg.AuthorizeURL,
		TokenEndpoint:         cfg.Issuer + TokenPath,
		RevocationEndpoint:    cfg.Issuer + RevocationPath,
		KeySet:                cfg.Issuer + KeySetPath,
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		TokenAuthMethods:      authMethods,
		RevocationAuthMethods: authMethods,
		ChallengeMethods:      []string{"S256"},
		IssuerInAnswers:       true,
		ProtectedResources:    []string{resources.api, resources.agent},
		MetadataDocuments:     cfg.Documents != nil,
	}
	if cfg.Registrations != nil {
		doc.RegistrationEndpoint = cfg.Issuer + RegistrationPath
	}
	if cfg.Introspection {
		doc.IntrospectionEndpoint = cfg.Issuer + IntrospectionPath
		doc.IntrospectAuthMethods = []string{"client_secret_basic", "client_secret_post"}
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
