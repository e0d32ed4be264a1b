package rest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/rest/linters"
)

// TestLintersFindNothing checks the OpenAPI document with the recommended rules of Redocly
// and Spectral: it has no error and no warning. Each linter also gets a document with faults,
// and must find them.
func TestLintersFindNothing(t *testing.T) {
	t.Parallel()
	// TestGoldenOpenAPIDocument checks that the product serves this document. A rule forbids
	// localhost as the server, which is only the address of the test.
	stored, err := os.ReadFile(filepath.Join("testdata", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]string{
		"openapi.json": strings.NewReplacer("http://localhost:8080", "https://api.mailhelm.test", "http://localhost:8081", "https://app.mailhelm.test").Replace(string(stored)),
		"faulty.json":  `{"openapi": "3.1.0", "info": {"title": "Faulty", "version": "1"}, "paths": {"/x": {"get": {"responses": {}}}}}`,
	}
	folder := t.TempDir()
	var files []string
	for name, text := range documents {
		files = append(files, filepath.Join(folder, name))
		if err := os.WriteFile(files[len(files)-1], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for linter, found := range map[string][]linters.Problem{"redocly": linters.Redocly(t, files...), "spectral": linters.Spectral(t, files...)} {
		faults := 0
		for _, p := range found {
			if p.Document == "faulty.json" {
				faults++
				continue
			}
			t.Errorf("%s: %s: %s: %s", linter, p.Document, p.Rule, p.Message)
		}
		if faults < 3 {
			t.Errorf("%s finds %d faults in the faulty document", linter, faults)
		}
	}
}
