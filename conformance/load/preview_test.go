package load

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// expensiveCounts and expensiveSearches are the size of the predicate in expensivePreview:
// the number of conditions that count events, and the number of searches in the subject
// that each condition makes.
const (
	expensiveCounts   = 8
	expensiveSearches = 22
)

// expensivePreview returns the request body of a segment preview that counts open events in
// a window, such as "7d". Each event takes 712 steps; see predicate.Weight.
func expensivePreview(window string) string {
	search := strings.TrimSuffix(strings.Repeat(`subject contains \"nothing of it\" or `, expensiveSearches), " or ")
	return `{"source":"` + strings.TrimSuffix(strings.Repeat("count(open where "+search+" within "+window+") > 9 or ", expensiveCounts), " or ") + `"}`
}

// BenchmarkPreviewSteps measures how many steps (predicate.Weight) a preview takes in a
// second, with no other caller. On SQLite the step budget divided by this rate should be
// about segments.PreviewTime. A predicate beyond the budget would exceed that time anyway.
func BenchmarkPreviewSteps(b *testing.B) {
	// recordOpens stores one open event a minute, so a window of ten days has this many.
	const window, events = "10d", 10 * 24 * 60
	const steps = events * expensiveCounts * (1 + 4*expensiveSearches)
	for _, engine := range []string{"sqlite", "postgres"} {
		p := product.Start(b, product.Options{Postgres: engine == "postgres"})
		recordOpens(b, p)
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, p.BaseURL+"/v1/segments/preview", strings.NewReader(expensivePreview(window)))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
				r.Header.Set("Content-Type", "application/json")
				answer, err := client().Do(r)
				if err != nil {
					b.Fatal(err)
				}
				body, err := io.ReadAll(answer.Body)
				_ = answer.Body.Close()
				if err != nil || answer.StatusCode != http.StatusOK {
					b.Fatalf("%s: %s (%v)", answer.Status, body, err)
				}
			}
			b.ReportMetric(steps*float64(b.N)/b.Elapsed().Seconds()/1e6, "Msteps/s")
		})
	}
}
