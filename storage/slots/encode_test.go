package slots_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/mailhelm/mailhelm/storage/slots"
	"pgregory.net/rapid"
)

// TestEncode checks that Encode returns the same text as json.Marshal for the values that
// are not nil.
func TestEncode(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(
		rapid.String().AsAny(), rapid.StringMatching(`[ -~]{0,9}`).AsAny(), rapid.Bool().AsAny(), rapid.Float64().AsAny(),
		rapid.SampledFrom([]any{
			nil, 0.0, math.Copysign(0, -1), 1e-6, 9.99e-7, 1e21, 9.99e20, -1e100, math.MaxFloat64, math.SmallestNonzeroFloat64, 100.0,
			"a\x00b", "\xff", "<script>&", "\u2028", `"\`, json.Number("12"),
			[]any{"a", nil, 1.5},
			map[string]any{"b": nil},
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		attributes := rapid.MapOf(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z_]{1,3}`)), value).Draw(t, "attributes")
		kept := map[string]any{}
		for name, v := range attributes {
			if v != nil {
				kept[name] = v
			}
		}
		want, err := json.Marshal(kept)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := slots.Encode(attributes); got != string(want) || err != nil {
			t.Fatalf("%s, want %s (%v)", got, want, err)
		}
	})
	if _, err := slots.Encode(map[string]any{"n": math.NaN()}); err == nil {
		t.Error("what JSON cannot hold is stored")
	}
}

func BenchmarkEncode(b *testing.B) {
	attributes := map[string]any{"plan": "pro", "city": "Rome", "mrr": 12.5, "vip": true, "signed_up": "2026-01-02T00:00:00Z"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := slots.Encode(attributes); err != nil {
			b.Fatal(err)
		}
	}
}
