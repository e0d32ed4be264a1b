package guardrails_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
)

// BenchmarkAdmitWithinLimit measures Admit, which runs for every call, for a caller with a
// limit. Without shared buckets it needs one allocation more than without a limit.
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
