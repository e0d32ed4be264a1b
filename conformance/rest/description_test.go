package rest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// description is the OpenAPI document of a running product, with which responses are
// checked.
type description struct {
	raw []byte // the JSON of the document, with the addresses of this product
	*parsedDescription
}

// parsedDescription is the parsed OpenAPI document with its compiled schemas. Products that
// serve the same document, but for their addresses, share it. It is safe for use by several
// goroutines.
type parsedDescription struct {
	doc      openAPI
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// openAPI has the parts of the OpenAPI document that the checks of responses need.
type openAPI struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Responses map[string]response `json:"responses"`
	} `json:"components"`
}

type operation struct {
	ID        string              `json:"operationId"`
	Responses map[string]response `json:"responses"`
}

type response struct {
	Ref     string                     `json:"$ref"`
	Headers map[string]json.RawMessage `json:"headers"`
	Content map[string]json.RawMessage `json:"content"`
}

const documentName = "https://openapi.test/openapi.json"

func describe(t testing.TB, p *product.Product) *description {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+"/v1/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	addresses := strings.NewReplacer(
		p.BaseURL, "https://api.test", p.AuthURL, "https://auth.test", p.MCPURL, "https://mcp.test", p.DocsURL, "https://docs.test",
	)
	parse := func() (*parsedDescription, error) { return parseDescription(raw) }
	shared, _ := descriptions.LoadOrStore(addresses.Replace(string(raw)), sync.OnceValues(parse))
	parsed, err := shared.(func() (*parsedDescription, error))()
	if err != nil {
		t.Fatalf("OpenAPI document: %v", err)
	}
	return &description{raw, parsed}
}

// descriptions has the parsed OpenAPI documents of the products that were started, by their
// text without the products' addresses. Each value is a func() (*parsedDescription, error).
var descriptions sync.Map

func parseDescription(raw []byte) (*parsedDescription, error) {
	d := &parsedDescription{schemas: map[string]*jsonschema.Schema{}, compiler: jsonschema.NewCompiler()}
	if err := json.Unmarshal(raw, &d.doc); err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource(documentName, value)
}

// check compares a response with the OpenAPI document. The operation must declare the
// status. It must also declare each rate-limit header, and each response header that is
// listed in the variable ours. The body must fit the declared schema.
func (d *description) check(t testing.TB, r *http.Request, a *answer) {
	t.Helper()
	if a.header.Get("X-Request-Id") == "" {
		t.Errorf("%s: no X-Request-Id", a.call)
	}
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: %s on an API for servers", a.call, name)
		}
	}
	path, op, known := d.find(r)
	if !known || a.status == http.StatusNotModified {
		return
	}
	status := strconv.Itoa(a.status)
	declared, ok := op.Responses[status]
	if !ok {
		t.Errorf("%s: status %s is not declared", a.call, status)
		return
	}
	pointer := "#/paths/" + escaped(path) + "/" + strings.ToLower(documented(r.Method)) + "/responses/" + status
	if declared.Ref != "" {
		pointer = declared.Ref
		declared = d.doc.Components.Responses[strings.TrimPrefix(declared.Ref, "#/components/responses/")]
	}
	checkHeaders(t, a, declared)
	d.checkBody(t, r, a, declared, pointer)
}

// ours has the names of response headers that the OpenAPI document must declare if a
// response has them. Rate-limit headers must be declared too. All other headers belong to
// HTTP and need no declaration.
var ours = []string{"X-Request-Id", "Link", "Retry-After", "Www-Authenticate", "Idempotent-Replayed"}

func checkHeaders(t testing.TB, a *answer, declared response) {
	t.Helper()
	names := map[string]bool{}
	for name := range declared.Headers {
		names[http.CanonicalHeaderKey(name)] = true
	}
	for name := range a.header {
		part := strings.Contains(name, "Ratelimit")
		for _, own := range ours {
			part = part || name == own
		}
		if part && !names[name] {
			t.Errorf("%s: header %s of a %d is not declared", a.call, name, a.status)
		}
	}
}

func (d *description) checkBody(t testing.TB, r *http.Request, a *answer, declared response, pointer string) {
	t.Helper()
	if r.Method == http.MethodHead {
		return
	}
	if len(declared.Content) == 0 {
		if len(a.body) > 0 {
			t.Errorf("%s: a body where none is declared: %.100s", a.call, a.body)
		}
		return
	}
	mediaType, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if _, ok := declared.Content[mediaType]; err != nil || !ok {
		t.Errorf("%s: content type %q is not declared", a.call, a.header.Get("Content-Type"))
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	if err != nil {
		t.Errorf("%s: body is no JSON: %v", a.call, err)
		return
	}
	if err := d.schema(t, pointer+"/content/"+escaped(mediaType)+"/schema").Validate(value); err != nil {
		t.Errorf("%s: body does not fit the document: %v\n%s", a.call, err, a.body)
	}
}

func (d *parsedDescription) schema(t testing.TB, pointer string) *jsonschema.Schema {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.schemas[pointer]; ok {
		return s
	}
	s, err := d.compiler.Compile(documentName + pointer)
	if err != nil {
		t.Fatalf("schema at %s: %v", pointer, err)
	}
	d.schemas[pointer] = s
	return s
}

// find returns the path and the operation of the OpenAPI document for a request. The last
// result is false if there is none.
func (d *description) find(r *http.Request) (string, operation, bool) {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for path, item := range d.doc.Paths {
		template := strings.Split(path, "/")
		if len(template) != len(segments) {
			continue
		}
		matches := true
		for i := range template {
			matches = matches && (template[i] == segments[i] || strings.HasPrefix(template[i], "{") && segments[i] != "")
		}
		if op, ok := item[strings.ToLower(documented(r.Method))]; matches && ok {
			return path, op, true
		}
	}
	return "", operation{}, false
}

// documented returns GET for HEAD, because the OpenAPI document describes HEAD requests
// under GET. It returns other methods unchanged.
func documented(method string) string {
	if method == http.MethodHead {
		return http.MethodGet
	}
	return method
}

// escaped escapes a name for use as one part of a JSON pointer in a URL fragment.
func escaped(name string) string {
	name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	return strings.NewReplacer("{", "%7B", "}", "%7D", "+", "%2B").Replace(name)
}
