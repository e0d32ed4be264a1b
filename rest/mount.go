package rest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
)

// noStore is the Cache-Control of responses that must not be cached.
const noStore = "no-store"

// mount is a route with its operation and the values that are computed once.
type mount struct {
	Route
	operation *guardrails.Operation
	// inPath has the members of the operation's input that are path parameters.
	inPath []pathMember
	// types returns the types of the members of the operation's input, by name. They are read
	// from the schema at the first call that needs them.
	types func() map[string]queryType
	// needs has the operation's scopes, separated by spaces, for the header
	// WWW-Authenticate.
	needs        string
	cacheControl string
	// waits is true if a call may wait for many seconds; see [core.Op].
	waits bool
}

// isLarge reports whether a request or an answer of the route may have many megabytes, so that only a few
// such calls may run at the same time.
func (m *mount) isLarge() bool { return m.Bundle || m.Archive }

// pathMember is a member of an operation's input that is a path parameter.
type pathMember struct {
	name   string
	prefix string // `"email":`
}

// isParameter reports whether a JSON value in the body is equal to text, the value of the path
// parameter p. If p is an email address, the body may spell it differently from the path, for
// example in upper case.
func (m *mount) isParameter(p pathMember, value jsontext.Value, text string) bool {
	decoded, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return false
	}
	return string(decoded) == text ||
		m.types()[p.name] == queryAddress && core.EmailKey(string(decoded)) == core.EmailKey(text)
}

// mount prepares a route for serving. It fails if the catalogue lacks the operation, or if a
// path parameter is not a member of the operation's input.
func (s *Server) mount(route Route) (*mount, error) {
	op, ok := s.cfg.Catalogue.Operation(route.Operation)
	if !ok {
		return nil, fmt.Errorf("no operation is named %q", route.Operation)
	}
	info := op.Info()
	m := &mount{Route: route, operation: op, needs: core.Scopes(info.Scopes).Join(), cacheControl: noStore, waits: info.Waits}
	if route.MaxAge > 0 {
		m.cacheControl = "max-age=" + strconv.Itoa(int(route.MaxAge.Seconds()))
	}
	input := op.Input(core.REST)
	m.types = sync.OnceValue(func() map[string]queryType { return queryTypes(input) })
	for _, name := range pathParameters(route.Path) {
		if !input.HasMember(name) {
			return nil, fmt.Errorf("path parameter %q is not a member of the operation's input", name)
		}
		m.inPath = append(m.inPath, pathMember{name, strconv.Quote(name) + ":"})
	}
	if m.Items != "" && !input.HasMember(m.Items) {
		return nil, fmt.Errorf("%q, whose items the body is, is not a member of the operation's input", m.Items)
	}
	return m, nil
}

// queryType returns the type to which a query parameter is converted. A route that takes a body
// has only the query parameters of QueryAlso.
func (m *mount) queryType(name string) queryType {
	if m.TakesBody() && !slices.Contains(m.QueryAlso, name) {
		return queryText
	}
	return m.types()[name]
}

// namesInPath reports whether name is a path parameter of the route.
func (m *mount) namesInPath(name string) bool {
	return slices.ContainsFunc(m.inPath, func(p pathMember) bool { return p.name == name })
}

// pathParameters returns the names in braces in a path, in order.
func pathParameters(path string) []string {
	var names []string
	for _, segment := range strings.Split(path, "/") {
		if strings.HasPrefix(segment, "{") {
			names = append(names, strings.Trim(segment, "{}"))
		}
	}
	return names
}

// queryType is the JSON type to which the text of a query parameter is converted.
type queryType int

// The JSON types of query parameters. Text that is not a value of the type becomes a JSON
// string, which the operation's schema then refuses.
const (
	queryText queryType = iota
	queryInteger
	queryBoolean
	queryAddress // a JSON string that is an email address
)

// queryTypes returns the type of each member of an operation's input, by name, from the
// input schema.
func queryTypes(input *core.Schema) map[string]queryType {
	var schema struct {
		Properties map[string]propertyType `json:"properties"`
	}
	if err := json.Unmarshal(input.Text(), &schema); err != nil {
		panic("rest: input schema: " + err.Error()) // a schema of ours
	}
	types := make(map[string]queryType, len(schema.Properties))
	for name, property := range schema.Properties {
		types[name] = property.query()
	}
	return types
}

// propertyType is the part of a property's JSON schema that states its type. Type is a name
// or a list of names.
type propertyType struct {
	Type   any            `json:"type"`
	Format string         `json:"format"`
	OneOf  []propertyType `json:"oneOf"`
	AnyOf  []propertyType `json:"anyOf"`
}

// query returns the JSON type to which a query parameter with this schema is converted.
func (p propertyType) query() queryType {
	switch {
	case p.is("integer"):
		return queryInteger
	case p.is("boolean"):
		return queryBoolean
	case p.Format == "email" || p.Format == "idn-email":
		return queryAddress
	}
	return queryText
}

// is reports whether the property accepts values of a JSON type, such as "integer".
func (p propertyType) is(name string) bool {
	if p.Type == name {
		return true
	}
	if several, ok := p.Type.([]any); ok && slices.Contains(several, any(name)) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(p.OneOf, p.AnyOf), func(o propertyType) bool { return o.is(name) })
}
