package core_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

func TestCanonicalJSON(t *testing.T) {
	t.Parallel()
	// The third is the example of RFC 8785 section 3.2.2, as far as it has one.
	for in, want := range map[string]string{
		`{ "b" : 1.0, "a" : [ true , null ] }`: `{"a":[true,null],"b":1}`,
		`"\u00e9\/"`:                           `"é/"`,
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]}`: `{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}`,
	} {
		got, err := core.CanonicalJSON([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

// FuzzCheckJSON holds the checker to what it promises: whatever it accepts, the
// standard library accepts too, and two canonical forms agree.
func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, ` 1 `, `{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":2}}`, `"\u0000"`, `{"\u0000":1}`, `"\\u0000"`,
		strings.Repeat("[", 10000), strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 65) + strings.Repeat("]", 65),
		`1 2`, `{} x`, "\"\xff\"", `"\ud800"`, `01`, `1e400`, `-0`, "\ufeff{}", `{"a":}`, `[1,]`, "", "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		err := core.CheckJSON(raw)
		if !bytes.Equal(before, raw) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if core.AsError(err).Code != core.CodeValidationFailed {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("accepted %q, which is not JSON", raw)
		}
		once, err := core.CanonicalJSON(raw)
		if err != nil {
			return // a number beyond IEEE 754 has no canonical form
		}
		if twice, err := core.CanonicalJSON(once); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q: %s, then %s, %v", raw, once, twice, err)
		}
	})
}
