package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// BenchmarkUpsertInALargeOrganization compares writes of contacts in an organization with 500
// attributes, 1,000 lists and 200 segments to writes in one that has nearly none. Each call
// changes one of 1,000 contacts.
func BenchmarkUpsertInALargeOrganization(b *testing.B) {
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		b.Run(name, func(b *testing.B) {
			p := product.Start(b, product.Options{Postgres: postgres})
			define(b, p, p.Org, 492, 990, 190) // the demo has some already
			define(b, p, p.Other, 1, 0, 0)
			compare(b, target{"large", upsert(p, p.Org)}, target{"small", upsert(p, p.Other)})
		})
	}
}

// define defines attributes, of which one is visits, lists and segments, which all test visits.
func define(b *testing.B, p *product.Product, org product.Org, attributes, lists, segments int) {
	b.Helper()
	properties := map[string]any{"visits": map[string]any{"type": "number"}}
	for i := range attributes - 1 {
		properties[fmt.Sprintf("attribute_%d", i)] = map[string]any{"type": "string", "description": "Set by the import."}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		b.Fatal(err)
	}
	listed, divided, files := map[string]any{}, map[string]any{}, map[string]string{"attributes.json": string(schema)}
	for i := range lists {
		listed[fmt.Sprintf("list-%d", i)] = map[string]any{"name": fmt.Sprintf("List %d", i)}
	}
	for i := range segments {
		path := fmt.Sprintf("segment-%d.predicate", i)
		divided[fmt.Sprintf("segment-%d", i)], files[path] = map[string]any{"path": path}, fmt.Sprintf("attr.visits > %d", i)
	}
	body, err := json.Marshal(map[string]any{"manifest": map[string]any{"attributes": "attributes.json", "lists": listed, "segments": divided}, "files": files})
	if err != nil {
		b.Fatal(err)
	}
	answer := p.Send(b, product.Request{Method: http.MethodPost, URL: p.BaseURL + "/v1/import?dry_run=false", Bearer: org.Live.APIKey, Body: string(body)})
	if answer.Status != http.StatusOK || !strings.Contains(answer.Body, `"applied":true`) {
		b.Fatalf("%d %s", answer.Status, answer.Body[max(0, len(answer.Body)-500):])
	}
}

// upsert returns a function that writes contacts of the organization.
func upsert(p *product.Product, org product.Org) func() (*http.Request, error) {
	var calls atomic.Int64
	return func() (*http.Request, error) {
		i := calls.Add(1)
		body := fmt.Sprintf(`{"attributes":{"visits":%d}}`, i)
		r, err := http.NewRequest(http.MethodPut, fmt.Sprintf("%s/v1/contacts/c%d@example.com", p.BaseURL, i%1000), strings.NewReader(body))
		if err == nil {
			r.Header.Set("Authorization", "Bearer "+org.Live.APIKey)
			r.Header.Set("Content-Type", "application/json")
		}
		return r, err
	}
}
