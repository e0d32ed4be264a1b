package guardrails_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
)

// BenchmarkAdmitWithinLimit measures Admit, which runs for every request, for a caller with
// a rate limit. The rate limit costs one additional memory allocation.
func BenchmarkAdmitWithinLimit(b *testing.B) {
	rails := setup(b)
	limit := 1 << 30
	rails.principal.Org.RateLimit = &limit
	authorization := []string{"Bearer good"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rails.catalogue.Admit(b.Context(), authorization, access.Agent); err != nil {
			b.Fatal(err)
		}
	}
}
