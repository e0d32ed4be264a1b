package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
)

// compiledPredicates are written, checked and made SQL: the usual one, and one with a
// term of each kind.
var compiledPredicates = map[string]string{
	"usual": `attr.plan = "pro" and attr.mrr > 100 and count(activity.purchase within 30d) >= 1`,
	"long": `(attr.plan in ["pro", "team"] or attr.mrr <= 20) and now - attr.signed_up > 30d and not exists(bounce within 90d)
		and subscribed to "news" and count(open where subject contains "sale" within 7d) > 2 and last(activity.visit) > now - 14d`,
}

// BenchmarkPredicateSQL is from the words of a predicate to the SQL that an engine is
// handed: parsed, checked and compiled. Under 50 microseconds are promised.
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
					question := segments.Question{OrgID: orgID, Predicate: checked, Slots: slots, Now: predicateNow}
					if _, _, err := storage.PredicateSQL(engine, question); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
