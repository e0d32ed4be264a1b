package guardrails_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
)

// Admit with a limit is what every call of a throttled organization pays before
// anything else happens; without shared buckets it is one allocation more than
// Admit without a limit.
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
