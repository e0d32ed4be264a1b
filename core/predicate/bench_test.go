package predicate_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
)

const usual = `attr.plan = "pro" and attr.mrr > 100 and count(activity.purchase within 30d) >= 1`

// BenchmarkCompile measures [predicate.Compile] for a typical predicate. It must take less
// than 50 microseconds.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := predicate.Compile(usual, schema); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := predicate.Parse(usual); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	b.ReportAllocs()
	checked := compile(b, usual)
	for b.Loop() {
		if checked.Match(anna, now) != predicate.True {
			b.Fatal("anna is not in")
		}
	}
}
