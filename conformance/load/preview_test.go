package load

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// The size of the predicate in expensivePreview: it has 8 conditions that count open
// events, each of which searches the subject for 22 texts.
const (
	expensiveCounts   = 8
	expensiveSearches = 22
)

// expensivePreview returns the body of a request to preview a segment by an expensive
// predicate. window is the period of events to count, such as "7d". Each event takes 712
// steps; see predicate.Weight.
func expensivePreview(window string) string {
	search := strings.TrimSuffix(strings.Repeat(`subject contains \"nothing of it\" or `, expensiveSearches), " or ")
	return `{"source":"` + strings.TrimSuffix(strings.Repeat("count(open where "+search+" within "+window+") > 9 or ", expensiveCounts), " or ") + `"}`
}

// BenchmarkPreviewSteps measures how many steps (see predicate.Weight) of a segment preview
// run in a second. A preview has a maximum number of steps and a time limit,
// segments.PreviewTime. On SQLite a preview with the maximum number of steps should take
// about segments.PreviewTime.
func BenchmarkPreviewSteps(b *testing.B) {
	// recordOpens stores one open event a minute, so a window of ten days has this many
	// events.
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
