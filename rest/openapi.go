package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bearer"
)

// serveOpenAPI returns the handler of the OpenAPI document, which makes the document at the
// first request. Making it at every start took 6 ms of processor time, a fifth of a start.
// Making the document fails only if the input of an operation is not an object, and then at
// every request; TestGoldenOpenAPIDocument makes it with all operations.
func (s *Server) serveOpenAPI() gin.HandlerFunc {
	made := sync.OnceValues(s.openAPI)
	return func(c *gin.Context) {
		document, err := made()
		if err != nil {
			s.refuse(c, nil, fmt.Errorf("openapi document: %w", err))
			return
		}
		document.serve(c)
	}
}

// openAPI returns the OpenAPI 3.1 document of the API. It is made from the routes, the
// operations' schemas, the scopes and the error catalogue. The same program always returns
// the same bytes.
func (s *Server) openAPI() (*document, error) {
	schemas := &schemaSet{names: map[string]string{}}
	paths, err := s.paths(schemas)
	if err != nil {
		return nil, err
	}
	return newDocument(object{
		{"openapi", "3.1.0"},
		{"info", s.info()},
		{"servers", []object{{{"url", s.cfg.BaseURL}}}},
		{"externalDocs", object{{"url", s.cfg.DocsURL}}},
		{"tags", s.tags()},
		{"paths", paths},
		{"components", object{
			{"schemas", append(object{{"Problem", problemSchema()}}, schemas.components...)},
			{"parameters", sharedParameters()},
			{"headers", sharedHeaders()},
			{"responses", problemResponses()},
			{"securitySchemes", s.securitySchemes()},
		}},
	})
}

// info returns the part `info` of the OpenAPI document: title, version, description and
// license of the API.
func (s *Server) info() object {
	return object{
		{"title", "Mailhelm API"},
		{"version", "1"},
		{"summary", "A control plane for email on top of your own sending account."},
		{"description", "The API is for servers: it allows no cross-origin calls from browsers. Every error is a problem document (RFC 7807); branch on its `code`. To page through a list, follow the `Link` header."},
		{"contact", object{{"name", "Mailhelm documentation"}, {"url", s.cfg.DocsURL}}},
		{"license", object{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}},
	}
}

// paths returns the part `paths` of the OpenAPI document: the routes by path, in the order
// of the table of routes.
func (s *Server) paths(schemas *schemaSet) (object, error) {
	var paths object
	for _, m := range s.mounts {
		operation, err := s.describe(m, schemas)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Operation, err)
		}
		i := slices.IndexFunc(paths, func(p member) bool { return p.name == m.Path })
		if i < 0 {
			paths = paths.with(m.Path, object{})
			i = len(paths) - 1
		}
		item, _ := paths[i].value.(object)
		paths[i].value = item.with(strings.ToLower(m.Method), operation)
	}
	return append(paths, publicPaths()...), nil
}

// describe returns the OpenAPI description of a route's operation.
func (s *Server) describe(m *mount, schemas *schemaSet) (object, error) {
	info := m.operation.Info()
	properties, err := propertiesOf(m.operation.Input(core.REST))
	if err != nil {
		return nil, err
	}
	operation := object{
		{"operationId", info.Name},
		{"summary", info.Title},
		{"description", info.Purpose},
		{"tags", []string{DomainOf(info.Name)}},
		{"security", securityOf(info.Scopes)},
		{"parameters", m.parameters(info, properties)},
	}
	if m.TakesBody() {
		operation = operation.with("requestBody", m.requestBody(properties))
	}
	return operation.with("responses", m.responses(info, schemas)), nil
}

// securityOf returns the security requirement of an operation in the OpenAPI document: an
// API key or an access token, with the scopes that either needs. OpenAPI lists scopes only
// for the scheme of access tokens, which declares them.
func securityOf(scopes []core.Scope) []object {
	names := make([]string, 0, len(scopes))
	for _, scope := range scopes {
		names = append(names, string(scope))
	}
	return []object{{{"oauth", names}}, {{"bearer", []string{}}}}
}

// securitySchemes returns the OpenAPI descriptions of the two kinds of credentials, API
// keys and OAuth tokens, with all scopes.
func (s *Server) securitySchemes() object {
	scopes := make(object, 0, len(core.ScopeCatalogue()))
	for _, scope := range core.ScopeCatalogue() {
		scopes = scopes.with(string(scope.Scope), scope.Description)
	}
	return object{
		{"bearer", object{
			{"type", "http"},
			{"scheme", "bearer"},
			{"description", "An API key (`sk_live_`, `sk_test_`). It needs the scopes that the operation lists for `oauth`."},
		}},
		{"oauth", object{
			{"type", "oauth2"},
			{"description", "Access tokens of the authorization server, valid for 15 minutes."},
			{"flows", object{{"clientCredentials", object{
				{"tokenUrl", s.cfg.AuthURL + "/oauth/token"}, {"scopes", scopes},
			}}}},
		}},
	}
}

// publicPaths returns the OpenAPI descriptions of the paths that need no credential.
func publicPaths() object {
	public := func(id, summary, description string, schema object) object {
		return object{{"get", object{
			{"operationId", id},
			{"summary", summary},
			{"description", description},
			{"tags", []string{serviceTag}},
			{"security", []object{}},
			{"responses", object{{"200", object{
				{"description", "The document."},
				{"headers", object{{requestIDHeader, reference("headers", requestIDHeader)}}},
				{"content", jsonContent(schema)},
			}}, {"4XX", reference("responses", "Problem")}}},
		}}}
	}
	text := object{{"type", "string"}}
	return object{
		{"/v1/_health", public("health_get", "Whether the API process answers", "Answers as long as the process runs. It checks neither the database nor the sending account.", object{
			{"type", "object"},
			{"required", []string{"status", "commit", "time"}},
			{"properties", object{
				{"status", object{{"type", "string"}, {"const", "ok"}}},
				{"commit", object{{"type", "string"}, {"description", "Build identifier, or `unknown`."}}},
				{"time", object{{"type", "string"}, {"format", "date-time"}}},
			}},
		})},
		{"/v1/openapi.json", public("openapi_get", "This document", "Describes every route with its schemas, scopes and errors. The document is the same for every caller.", object{
			{"type", "object"}, {"required", []string{"openapi"}}, {"properties", object{{"openapi", text}}},
		})},
		{bearer.ProtectedResourcePath, public("protected_resource_get", "Where to get a token for this API (RFC 9728)", "Names the authorization server and the scopes of this API, for clients that find both from the address alone.", object{
			{"type", "object"},
			{"required", []string{"resource", "authorization_servers"}},
			{"properties", object{
				{"resource", text}, {"authorization_servers", object{{"type", "array"}, {"items", text}}},
			}},
		})},
	}
}

// jsonContent returns the OpenAPI `content` of a JSON body with this schema.
func jsonContent(schema any) object {
	return object{{"application/json", object{{"schema", schema}}}}
}

// propertiesOf returns the members of an operation's input schema, in the order of
// declaration.
func propertiesOf(input *core.Schema) ([]property, error) {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(input.Text(), &schema); err != nil {
		return nil, err
	}
	properties := make([]property, 0, len(schema.Properties))
	for _, name := range input.Members() {
		properties = append(properties, property{name, schema.Properties[name], slices.Contains(schema.Required, name)})
	}
	return properties, nil
}

// requestBody returns the OpenAPI description of the route's request body. It includes the
// path parameters as optional members, because the body may repeat them with the same
// value.
func (m *mount) requestBody(properties []property) object {
	members, required := object{}, []string{}
	for _, p := range properties {
		if slices.Contains(m.QueryAlso, p.name) {
			continue
		}
		members = members.with(p.name, p.schema)
		if p.required && !m.namesInPath(p.name) {
			required = append(required, p.name)
		}
	}
	schema := object{
		{"type", "object"}, {"properties", members}, {"required", required}, {"additionalProperties", false},
	}
	if m.Items != "" {
		schema = m.itemsBody(properties)
	}
	content := jsonContent(schema)
	if m.Method == http.MethodPatch {
		content = content.with("application/merge-patch+json", object{{"schema", schema}})
	}
	if m.Bundle {
		content = content.with(zipType, object{{"schema", object{{"type", "string"}, {"contentMediaType", zipType}}}})
	}
	return object{{"required", !m.OptionalBody}, {"content", content}}
}
