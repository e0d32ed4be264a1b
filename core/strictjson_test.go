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
	// The third text is taken from the example in RFC 8785 section 3.2.2. A number that
	// CheckJSON refuses is shortened, and the other members are omitted.
	for in, want := range map[string]string{
		`{ "b" : 1.0, "a" : [ true , null ] }`: `{"a":[true,null],"b":1}`,
		`"\u00e9\/"`:                           `"é/"`,
		`{"numbers":[333333333.3333333,1E30,4.50,2e-3,0.000000000000000000000000001]}`: `{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}`,
	} {
		got, err := core.CanonicalJSON([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

func TestNumbersThatRoundTripThroughFloat64(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]bool{
		"0": true, "-0": true, "0.000": true, "0e999999": true, "1": true, "1.0": true, "1e22": true, "1e308": true, "5e-324": true,
		"9007199254740991": true, "9007199254740992": true, "9007199254740993": false, "12345678901234567890": false, "100000000000000000000": true,
		"0.1": true, "0.30000000000000004": true, "0.30000000000000003": false, "123456789.012345": true, "1.7976931348623157e308": true,
		"1e309": false, "-1e309": false, "1e-400": false, "1e999999": false, "1e-999999": false,
		strings.Repeat("3", 65): false, "0." + strings.Repeat("0", 70): false,
	} {
		if err := core.CheckJSON([]byte(`{"n":` + number + `}`)); (err == nil) != want {
			t.Errorf("%s: %v", number, err)
		}
	}
}

// TestNothingFollowsTheValue checks that only JSON white space may follow a value, and no
// other white space of Unicode.
func TestNothingFollowsTheValue(t *testing.T) {
	t.Parallel()
	for behind, want := range map[string]bool{
		"": true, " \t\r\n": true, "\v": false, "\f": false, "\u0085": false, "\u00a0": false, "\u2028": false, "{}": false, ",": false,
	} {
		if err := core.CheckJSON([]byte("{}" + behind)); (err == nil) != want {
			t.Errorf("%q behind the value: %v", behind, err)
		}
	}
}

// FuzzCheckJSON checks that encoding/json accepts every text that CheckJSON accepts, and
// that canonicalizing a canonical form does not change it.
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
			t.Fatalf("%q has no canonical form: %v", raw, err)
		}
		if twice, err := core.CanonicalJSON(once); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q: %s, then %s, %v", raw, once, twice, err)
		}
	})
}
