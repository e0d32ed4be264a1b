package segments_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	segmentsstore "github.com/mailhelm/mailhelm/storage/segments"
)

// compiledAt is the time at which the benchmark's predicates are evaluated.
var compiledAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// compiledPredicates has a typical predicate, and one with a term of each kind.
var compiledPredicates = map[string]string{
	"usual": `attr.plan = "pro" and attr.mrr > 100 and count(activity.purchase within 30d) >= 1`,
	"long": `(attr.plan in ["pro", "team"] or attr.mrr <= 20) and now - attr.signed_up > 30d and not exists(bounce within 90d)
		and subscribed to "news" and count(open where subject contains "sale" within 7d) > 2 and last(activity.visit) > now - 14d`,
}

// BenchmarkPredicateSQL parses, checks and compiles a predicate to SQL. The target is
// less than 50 microseconds.
func BenchmarkPredicateSQL(b *testing.B) {
	schema := predicate.Schema{
		Attributes: map[string]predicate.AttributeType{
			"plan": {Type: predicate.String}, "mrr": {Type: predicate.Number}, "signed_up": {Type: predicate.Datetime},
		},
		Topics: map[string]bool{"news": true},
	}
	slots, orgID := map[string]string{"plan": "s1", "mrr": "n1", "signed_up": "t1"}, core.NewID()
	for _, engine := range []string{"sqlite", "postgres"} {
		for name, source := range compiledPredicates {
			b.Run(engine+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					checked, err := predicate.Compile(source, schema)
					if err != nil {
						b.Fatal(err)
					}
					question := segments.Question{OrgID: orgID, Predicate: checked, Slots: slots, Now: compiledAt}
					if _, _, err := segmentsstore.PredicateSQL(engine, question); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
