package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
)

// schemaSet collects the schemas of results for the OpenAPI document. Operations with equal
// schemas share one, so that a generated client has one type for them.
type schemaSet struct {
	names      map[string]string // by text
	components object
}

// add adds the schema of an operation's result to the set, if the set does not have it, and
// returns a reference to it. The schema is named after the first operation that returns it.
func (s *schemaSet) add(operation string, schema *core.Schema) object {
	text := string(schema.Text())
	name, ok := s.names[text]
	if !ok {
		name = pascal(operation) + "Result"
		s.names[text] = name
		s.components = s.components.with(name, schema.Text())
	}
	return reference("schemas", name)
}

// pascal returns ContactsLookup for contacts_lookup.
func pascal(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// parameters returns the OpenAPI parameters of the route: the path parameters, then the
// query parameters, then the headers.
func (m *mount) parameters(info core.OperationInfo, properties []property) []object {
	parameters := []object{}
	for _, p := range properties {
		switch {
		case m.namesInPath(p.name):
			parameters = append(parameters, parameter("path", p, true))
		case !m.TakesBody() || slices.Contains(m.QueryAlso, p.name):
			parameters = append(parameters, parameter("query", p, p.required))
		}
	}
	slices.SortStableFunc(parameters, func(a, b object) int {
		return strings.Compare(a[1].value.(string), b[1].value.(string)) // path before query
	})
	if info.Effect != core.Reads {
		parameters = append(parameters, reference("parameters", "IdempotencyKey"))
	}
	return append(parameters, reference("parameters", "RequestId"))
}

// parameter returns the OpenAPI description of a parameter. in is "path" or "query".
func parameter(in string, p property, required bool) object {
	o := object{{"name", p.name}, {"in", in}, {"required", required}}
	if text := p.description(); text != "" {
		o = o.with("description", text)
	}
	return o.with("schema", p.schema)
}

// responses returns the OpenAPI responses of the route: the successes, then a problem
// document for each error status that the route can have. Without [Route.Also], only routes
// with a path parameter have 404, and only writes have 409.
func (m *mount) responses(info core.OperationInfo, schemas *schemaSet) object {
	responses := object{}
	for _, status := range m.successes() {
		responses = responses.with(strconv.Itoa(status), m.success(info, status, schemas))
	}
	for _, status := range problemStatuses() {
		switch {
		case slices.Contains(m.Also, status):
		case status == http.StatusBadRequest,
			status == http.StatusForbidden && len(info.Scopes) == 0 && info.Effect != core.Destroys,
			status == http.StatusNotFound && len(m.inPath) == 0,
			status == http.StatusConflict && info.Effect == core.Reads:
			continue
		}
		responses = responses.with(strconv.Itoa(status), reference("responses", problemName(status)))
	}
	return responses.with("default", reference("responses", "Problem"))
}

// successes returns the statuses of the route's successful responses.
func (m *mount) successes() []int {
	if m.MayCreate {
		return []int{m.Success, http.StatusCreated}
	}
	return []int{m.Success}
}

// success returns the OpenAPI description of the successful response with this status: its
// headers and its schema.
func (m *mount) success(info core.OperationInfo, status int, schemas *schemaSet) object {
	headers := []string{requestIDHeader, "Cache-Control"}
	if info.Effect != core.Reads {
		headers = append(headers, "Idempotent-Replayed")
	}
	if slices.Contains(m.operation.Input(core.REST).Members(), "cursor") {
		headers = append(headers, "Link")
	}
	if info.Cost == core.Heavy {
		headers = append(headers, guardrails.ReplicaLagHeader)
	}
	if m.Header != "" {
		headers = append(headers, m.Header)
	}
	answer := object{
		{"description", successText(status)},
		{"headers", headerReferences(append(headers, rateHeaders...))},
	}
	if status == http.StatusNoContent {
		return answer
	}
	content := jsonContent(schemas.add(info.Name, m.operation.Output(core.REST)))
	if m.Archive {
		content = content.with(zipType, object{{"schema", object{{"type", "string"}, {"contentMediaType", zipType}}}})
	}
	return answer.with("content", content)
}

// successText returns the text that describes the successful response with this status.
func successText(status int) string {
	switch status {
	case http.StatusCreated:
		return "Done; a new object was created."
	case http.StatusNoContent:
		return "Done; there is nothing to return."
	}
	return "Done."
}

// headerReferences returns references to the shared OpenAPI headers with these names.
func headerReferences(names []string) object {
	headers := object{}
	for _, name := range names {
		headers = headers.with(name, reference("headers", name))
	}
	return headers
}

// problemStatuses returns the statuses of the error catalogue and 504, which
// upstream_unavailable can have in addition to its usual 503. It omits 405, because the
// document has only methods that are allowed.
func problemStatuses() []int {
	statuses := []int{http.StatusGatewayTimeout}
	for _, info := range core.Codes() {
		if info.Status != http.StatusMethodNotAllowed {
			statuses = append(statuses, info.Status)
		}
	}
	slices.Sort(statuses)
	return slices.Compact(statuses)
}

// problemName returns the name of the shared OpenAPI response for an error status.
func problemName(status int) string { return fmt.Sprintf("Problem%d", status) }

// problemResponses returns the shared OpenAPI responses: one for each error status, with
// its error codes, and one for any other error.
func problemResponses() object {
	responses := object{}
	for _, status := range problemStatuses() {
		responses = responses.with(problemName(status), problemResponse(status, codesWith(status)))
	}
	return responses.with("Problem", problemResponse(0, nil))
}

// codesWith returns the error codes that can have this HTTP status.
func codesWith(status int) []core.CodeInfo {
	var infos []core.CodeInfo
	for _, info := range core.Codes() {
		if info.Status == status || status == http.StatusGatewayTimeout && info.Code == core.CodeUpstreamUnavailable ||
			status == http.StatusBadRequest && info.Code == core.CodeValidationFailed {
			infos = append(infos, info)
		}
	}
	return infos
}

// problemResponse returns the shared OpenAPI response for an error status. Its description
// explains each error code in infos, or is "Any other problem." if infos is empty.
func problemResponse(status int, infos []core.CodeInfo) object {
	description := "Any other problem."
	if len(infos) > 0 {
		var b strings.Builder
		for _, info := range infos {
			fmt.Fprintf(&b, "- `%s`: %s\n", info.Code, info.Meaning)
		}
		description = strings.TrimSuffix(b.String(), "\n")
	}
	headers := []string{requestIDHeader}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		headers = append(headers, "WWW-Authenticate")
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		headers = append(headers, "Retry-After")
	}
	if status != http.StatusUnauthorized {
		headers = append(headers, rateHeaders...)
	}
	return object{
		{"description", description},
		{"headers", headerReferences(headers)},
		{"content", object{{"application/problem+json", object{{"schema", reference("schemas", "Problem")}}}}},
	}
}
