package rest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/pb33f/libopenapi"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGoldenOpenAPIDocument compares the OpenAPI document with the golden file. A
// difference is a change of the public API.
func TestGoldenOpenAPIDocument(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	text := strings.NewReplacer(
		a.BaseURL, "http://localhost:8080", a.AuthURL, "http://localhost:8081", a.DocsURL, "http://localhost:8081/docs",
	).Replace(string(a.description.raw))
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	indented.WriteByte('\n')
	golden := filepath.Join("testdata", "openapi.json")
	if *update {
		if err := goldentest.Write(golden, indented.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), indented.String()); diff != "" {
		t.Errorf("the document differs from %s; go test -update takes it over (-agreed +served):\n%s", golden, diff)
	}
}

// TestOpenAPIIsValid parses the OpenAPI document with an independent library, which
// resolves every reference.
func TestOpenAPIIsValid(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	document, err := libopenapi.NewDocument(a.description.raw)
	if err != nil {
		t.Fatal(err)
	}
	if document.GetVersion() != "3.1.0" {
		t.Errorf("version = %q", document.GetVersion())
	}
	model, err := document.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		for method, op := range item.GetOperations().FromOldest() {
			if ids[op.OperationId] || op.OperationId == "" || op.Summary == "" || len(op.Tags) != 1 || op.Security == nil {
				t.Errorf("%s %s: operationId %q, summary %q, tags %v", method, path, op.OperationId, op.Summary, op.Tags)
			}
			ids[op.OperationId] = true
			for _, p := range op.Parameters {
				if p.Description == "" || p.Schema == nil {
					t.Errorf("%s %s: parameter %q is not described", method, path, p.Name)
				}
			}
			for status, r := range op.Responses.Codes.FromOldest() {
				if r.Description == "" {
					t.Errorf("%s %s: %s is not described", method, path, status)
				}
			}
		}
	}
}

// TestOpenAPISchemasCompile checks that every schema of the OpenAPI document compiles,
// including schemas that no other test uses.
func TestOpenAPISchemasCompile(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	var names struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(a.description.raw, &names); err != nil {
		t.Fatal(err)
	}
	if len(names.Components.Schemas) < 5 {
		t.Errorf("only %d schemas", len(names.Components.Schemas))
	}
	for name := range names.Components.Schemas {
		a.description.schema(t, "#/components/schemas/"+name)
	}
}
