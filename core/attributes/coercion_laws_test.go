package attributes

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"pgregory.net/rapid"
)

// The tests of this file check the rules by which Registry.Coerce converts values.

func TestCoercionToNumber(t *testing.T) {
	t.Parallel()
	number := Attribute{Type: Number}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Float64Range(-predicate.MaxNumber, predicate.MaxNumber).Draw(t, "number")
		spelled, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []any{json.Number(spelled), string(spelled), n} {
			if got, reason := number.coerce(value); reason != "" || got != n {
				t.Fatalf("%T %v = %v, %q", value, value, got, reason)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		_, reason := number.coerce(text)
		var spelled float64
		isOne := json.Unmarshal([]byte(text), &spelled) == nil && strings.TrimSpace(text) == text && text != "null" && math.Abs(spelled) <= predicate.MaxNumber
		if (reason == "") != isOne {
			t.Fatalf("%q as a number: %q", text, reason)
		}
	})
}

// TestNumbersBeyondPredicatesAreRefused checks numbers that predicates treat as absent.
// They must be refused as input and when stored values are converted, and SlotValue must
// return nil for them.
func TestNumbersBeyondPredicatesAreRefused(t *testing.T) {
	t.Parallel()
	number := Attribute{Type: Number}
	for _, n := range []float64{1.0000001e100, -1.0000001e100, 1e308, -math.MaxFloat64} {
		spelled, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []any{json.Number(spelled), string(spelled), n} {
			if got, reason := number.coerce(value); reason != "must be a number from -1e+100 to 1e+100" {
				t.Errorf("%T %v = %v, %q", value, value, got, reason)
			}
			if settled, fits := number.Settle(value); fits {
				t.Errorf("stored %T %v settles to %v", value, value, settled)
			}
		}
		if slot := number.SlotValue(n); slot != nil {
			t.Errorf("%v is %v in a slot", n, slot)
		}
	}
	for _, n := range []float64{1e100, -1e100} {
		if got, reason := number.coerce(n); reason != "" || number.SlotValue(got) != n {
			t.Errorf("%v = %v, %q", n, got, reason)
		}
	}
	_, err := Registry{"mrr": {Type: Number}}.Coerce(map[string]any{"mrr": json.Number("-1e101")}, nil)
	if e := core.AsError(err); e == nil || e.Code != core.CodeAttributeValidationFailed || len(e.Fields) != 1 || e.Fields[0].Field != "attributes.mrr" {
		t.Errorf("refused with %v", err)
	}
}

func TestDatetimesAreInstantsInUTC(t *testing.T) {
	t.Parallel()
	datetime := Attribute{Type: Datetime}
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.IntRange(-14*60, 14*60).Draw(t, "offset in minutes")
		at := time.Unix(rapid.Int64Range(-62135510400, 253402214400).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond")).
			In(time.FixedZone("", offset*60))
		got, reason := datetime.coerce(at.Format(time.RFC3339Nano))
		if reason != "" {
			t.Fatalf("%v: %q", at, reason)
		}
		kept, err := time.Parse(time.RFC3339Nano, got.(string))
		if err != nil || !strings.HasSuffix(got.(string), "Z") || !kept.Equal(at.Truncate(time.Microsecond)) {
			t.Fatalf("%v is kept as %v", at, got)
		}
		if slot := datetime.SlotValue(got); slot != at.UnixMicro() {
			t.Fatalf("%v is %v in a slot, want %d", at, slot, at.UnixMicro())
		}
		day := at.UTC().Format(time.DateOnly)
		if midnight, reason := datetime.coerce(day); reason != "" || midnight != day+"T00:00:00Z" {
			t.Fatalf("%s is %v, %q", day, midnight, reason)
		}
	})
}

func TestCoercionToBoolean(t *testing.T) {
	t.Parallel()
	boolean := Attribute{Type: Bool}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"true", "false", "True", "1", "0", "yes", "t"})).Draw(t, "text")
		got, reason := boolean.coerce(text)
		if is := text == "true" || text == "false"; is != (reason == "") || is && got != (text == "true") {
			t.Fatalf("%q = %v, %q", text, got, reason)
		}
	})
}

func TestEnumsAreTheirValuesOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringN(1, 8, -1), 1, 5).Draw(t, "values")
		text := rapid.OneOf(rapid.SampledFrom(values), rapid.String()).Draw(t, "text")
		enum := Attribute{Type: Enum, EnumValues: values}
		got, reason := enum.coerce(text)
		if is := slices.Contains(values, text); is != (reason == "") || is && got != text {
			t.Fatalf("%q of %q = %v, %q", text, values, got, reason)
		}
		// A stored string is accepted even if it is not one of the enum's values.
		if stored, fits := enum.Settle(text); !fits || stored != text {
			t.Fatalf("stored %q settles to %v, %v", text, stored, fits)
		}
	})
}

// TestCoercionToStringIsReversible checks that a number or boolean that was converted to a
// string converts back to the same value.
func TestCoercionToStringIsReversible(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		original := rapid.OneOf(rapid.Float64Range(-predicate.MaxNumber, predicate.MaxNumber).AsAny(), rapid.Bool().AsAny()).Draw(t, "value")
		back := Attribute{Type: Number}
		if _, is := original.(bool); is {
			back.Type = Bool
		}
		text, fits := Attribute{Type: String}.Settle(original)
		again, fitsBack := back.Settle(text)
		if !fits || !fitsBack || again != original {
			t.Fatalf("%v -> %v -> %v", original, text, again)
		}
	})
}

// TestSlotValueOfCoercedValues checks SlotValue, which returns the form of an attribute
// value that is stored in the column for predicates. It must return a value for each
// value that was converted to the type, and nil for each value that cannot be converted.
func TestSlotValueOfCoercedValues(t *testing.T) {
	t.Parallel()
	types := []Type{String, Number, Bool, Datetime, Enum}
	rapid.Check(t, func(t *rapid.T) {
		a := Attribute{Type: rapid.SampledFrom(types).Draw(t, "type")}
		value := rapid.OneOf(
			rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.SampledFrom([]any{"true", "1e3", "2026-02-28", "2026-02-28T01:02:03Z", []any{}, map[string]any{}}),
			rapid.Map(rapid.Int32(), func(n int32) any { return float64(n) }), rapid.Map(rapid.Int32(), func(n int32) any { return strconv.Itoa(int(n)) }),
		).Draw(t, "value")
		settled, fits := a.Settle(value)
		if !fits {
			if slot := a.SlotValue(value); slot != nil {
				t.Fatalf("%v does not fit %s and is %v in its slot", value, a.Type, slot)
			}
			return
		}
		if a.SlotValue(settled) == nil {
			t.Fatalf("%v fits %s as %v and has no place in its slot", value, a.Type, settled)
		}
	})
}
