package core

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzDecodeJSON checks that decodeJSON refuses the same texts as CheckJSON, and returns
// the same values as encoding/json.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{
		`null`, `true`, ` false `, `0`, `-1.50e3`, `""`, `"a\u0000b"`, `"\ud83d\ude00"`, `"\ud800"`, `[]`, `{}`, `[1,"2",[null],{"a":{}}]`,
		`{"a":1,"b":[true,{"c":"é"}],"":""}`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"a":}`, `[1,]`, `[1`, `{"a"`, `]`, `}`, `1 2`, `{} x`, ``, ` `,
		`123456789012345678901234567890`, strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 64) + strings.Repeat("]", 64),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decodeJSON(raw)
		if checked := CheckJSON(raw); (checked == nil) != (err == nil) || err != nil && checked.Error() != err.Error() {
			t.Fatalf("%q: decoding says %v, checking %v", raw, err, checked)
		}
		if err != nil {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		// Not cmp.Diff: its time doubles with each level of nesting.
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%q: encoding/json %#v, ours %#v", raw, want, got)
		}
	})
}
