package contacts

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"pgregory.net/rapid"
)

// objects draws JSON objects: as they are stored, with nested values and escapes, with white
// space, with names that occur twice, and with characters removed or replaced.
func objects() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		texts := rapid.OneOf(rapid.StringMatching(`[a-z_ ,:{}"\\é<>\x00-\x1f\x7f-]{0,6}`), rapid.SampledFrom([]string{"", "OPT_IN", "OPT_OUT", "\u2028", "\xff", "true", "12"}))
		values := rapid.OneOf(
			rapid.Map(texts, func(s string) any { return s }), rapid.Map(rapid.Float64(), func(f float64) any { return f }),
			rapid.Map(rapid.IntRange(-1000, 1000), func(n int) any { return n }), rapid.SampledFrom([]any{true, false, nil, []any{}, map[string]any{"a": 1}, math.MaxFloat64, 1e-9}),
		)
		b, err := json.Marshal(rapid.MapOfN(texts, values, 0, 5).Draw(t, "object"))
		if err != nil {
			t.Fatal(err)
		}
		s := string(b)
		if rapid.IntRange(0, 2).Draw(t, "damage") > 0 {
			return s
		}
		at, put := rapid.IntRange(0, len(s)-1).Draw(t, "at"), rapid.SampledFrom([]string{"", " ", ",", `"`, "{", "}", ":", "0", "-", ".", "e", `\`, "\n", "\xff", `,"a":1`}).Draw(t, "put")
		return s[:at] + put + s[at+rapid.IntRange(0, 1).Draw(t, "removed"):]
	})
}

// TestDecodeAttributes checks that decodeAttributes returns what package json decodes.
func TestDecodeAttributes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := objects().Draw(t, "stored")
		want := map[string]any{}
		wantErr := json.Unmarshal([]byte(stored), &want)
		got, err := decodeAttributes(stored)
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, %v; want %#v, %v", stored, got, err, want, wantErr)
		}
	})
}

// TestDecodePreferences checks that decodePreferences returns what package json decodes, sorted.
func TestDecodePreferences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := objects().Draw(t, "stored")
		var want map[string]sending.Subscription
		wantErr := json.Unmarshal([]byte(stored), &want)
		got, err := decodePreferences(stored)
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, []topics.Preference(topics.ChoicesOf(want))) {
			t.Fatalf("%q: %#v, %v; want %#v, %v", stored, got, err, want, wantErr)
		}
	})
}

// TestFlatObjectsAllocateLittle checks that objects as they are stored are not decoded by package
// json, which would allocate about 20 objects.
func TestFlatObjectsAllocateLittle(t *testing.T) {
	const stored = `{"city":"Lisboa","first_name":"Ada","last_order_at":"2026-03-02T08:30:00Z","orders":12,"spent_eur":271.5,"wholesale":false}`
	if got := testing.AllocsPerRun(100, func() { _, _ = decodeAttributes(stored) }); got > 9 {
		t.Errorf("attributes: %v objects", got)
	}
	if got := testing.AllocsPerRun(100, func() { _, _ = decodePreferences(`{"events":"OPT_IN","product-news":"OPT_OUT"}`) }); got > 1 {
		t.Errorf("preferences: %v objects", got)
	}
}
