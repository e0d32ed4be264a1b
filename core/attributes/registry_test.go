package attributes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"pgregory.net/rapid"
)

func TestCoercion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind Type
		in   string // JSON
		out  string // JSON, "" for refused
	}{
		{String, `"x"`, `"x"`},
		{String, `""`, `""`},
		{String, `1.50`, `"1.50"`},
		{String, `12345678901234567890`, `"12345678901234567890"`},
		{String, `true`, `"true"`},
		{String, `[1]`, ``},
		{Number, `1`, `1`},
		{Number, `"-2.5e3"`, `-2500`},
		{Number, `"0x10"`, ``},
		{Number, `"1_000"`, ``},
		{Number, `"Inf"`, ``},
		{Number, `"1e999"`, ``},
		{Number, `" 1"`, ``},
		{Number, `true`, ``},
		{Bool, `false`, `false`},
		{Bool, `"true"`, `true`},
		{Bool, `"TRUE"`, ``},
		{Bool, `1`, ``},
		{Datetime, `"2026-02-28"`, `"2026-02-28T00:00:00Z"`},
		{Datetime, `"2026-02-28T23:30:00+02:00"`, `"2026-02-28T21:30:00Z"`},
		{Datetime, `"2026-02-30"`, ``},
		{Datetime, `"yesterday"`, ``},
		{Datetime, `"9999-12-31T23:59:59-10:00"`, ``},
		{Datetime, `"0001-01-01T00:00:00+14:00"`, ``},
		{Datetime, `1772236800`, ``},
		{Enum, `"pro"`, `"pro"`},
		{Enum, `"Pro"`, ``},
		{Enum, `1`, ``},
	} {
		value := decode(t, tc.in)
		got, reason := Attribute{Name: "a", Type: tc.kind, EnumValues: []string{"free", "pro"}}.coerce(value)
		if (reason == "") != (tc.out != "") {
			t.Errorf("%s %s: %v, %q", tc.kind, tc.in, got, reason)
			continue
		}
		if b, _ := json.Marshal(got); reason == "" && string(b) != tc.out {
			t.Errorf("%s %s = %s, want %s", tc.kind, tc.in, b, tc.out)
		}
	}
}

// decode decodes a JSON value in the same way as the arguments of an operation, with
// numbers as json.Number.
func decode(t interface{ Fatal(...any) }, raw string) any {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestLongTextIsRefused(t *testing.T) {
	t.Parallel()
	if _, reason := (Attribute{Type: String}).coerce(strings.Repeat("x", maxText+1)); reason == "" {
		t.Error("accepted")
	}
}

// TestCoercedValuesStay checks that coercing a coerced value again does not change it. So a
// caller can write back the values that it read.
func TestCoercedValuesStay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := Attribute{Name: "a", EnumValues: []string{"free", "pro"}, Type: rapid.SampledFrom([]Type{
			String, Number, Bool, Datetime, Enum,
		}).Draw(t, "type")}
		value := rapid.OneOf(
			rapid.String().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(),
			rapid.SampledFrom([]any{"pro", "1e3", "true", "2026-02-28", "2026-02-28T01:02:03.456789Z"}),
		).Draw(t, "value")
		once, reason := a.coerce(resent(t, value))
		if reason != "" {
			return
		}
		twice, reason := a.coerce(resent(t, once))
		if reason != "" || twice != once {
			t.Fatalf("%v -> %v -> %v, %q", value, once, twice, reason)
		}
	})
}

// resent encodes a value as JSON and decodes it again, like a value that a caller read and
// sends back.
func resent(t *rapid.T, value any) any {
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(raw))
}

func TestAMisspelledAttributeIsSuggested(t *testing.T) {
	t.Parallel()
	r := Registry{"plan": {Name: "plan", Type: String}, "age": {Name: "age", Type: Number}}
	for name, want := range map[string]string{"plna": "did you mean plan?", "agee": "did you mean age?", "zzzzzz": "is not in the attribute registry"} {
		_, err := r.Coerce(map[string]any{name: "x"}, nil)
		if got := core.AsError(err).Fields[0].Reason; !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
		if message := core.AsError(err).Message; strings.HasSuffix(message, "?.") {
			t.Errorf("%s: two closing punctuation marks: %s", name, message)
		}
	}
}
