package activities

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestPropertiesAreKeptSoThatBothEnginesReadThem checks the stored form of properties,
// without a database. It must have the expected members and pass isReadAlike. The original
// text must be returned byte for byte.
func TestPropertiesAreKeptSoThatBothEnginesReadThem(t *testing.T) {
	t.Parallel()
	for sent, members := range map[string]string{
		`{"a":1}`: "", `{}`: "", `[1,2]`: "", `1e999`: "", `"a"`: "", `{"a":"\\u0000"}`: "", `{"a":12345678901234567890}`: "", "{\n}": "",
		`"\u0000"`: `{}`, `[{"a":1,"a":2}]`: `{}`, ` {"a":1}`: `{"a":1}`,
		`{"a":1,"b":"\u0000"}`: `{"a":1}`, `{"a":1,"a":"<é\u2028>"}`: `{"a":"<é\u2028>"}`, `{"a":1,"a":"\ud800","b":2}`: `{"b":2}`,
		`{"":5,"a":{"b":1,"b":2},"\u0000":1,"c":true}`: `{"c":true}`, `{"\u0061":1,"a":2,"\ud800":3}`: `{"a":2,"�":3}`,
	} {
		kept := keptProperties(json.RawMessage(sent))
		if got := string(sentProperties(kept)); got != sent {
			t.Errorf("%s came back as %s", sent, got)
		}
		if members == "" {
			if kept != sent {
				t.Errorf("%s is kept as %s", sent, kept)
			}
			continue
		}
		if !jsontext.Value(kept).IsValid() || !isReadAlike([]byte(kept)) {
			t.Errorf("%s is kept as %s, which not every engine reads", sent, kept)
		}
		var got, want map[string]any
		if json.Unmarshal([]byte(kept), &got) != nil || json.Unmarshal([]byte(members), &want) != nil {
			t.Fatalf("%s: %s", sent, kept)
		}
		delete(got, sentMember)
		if len(got) != len(want) {
			t.Errorf("of %s predicates read %v, want %v", sent, got, want)
		}
		for name, value := range want {
			if got[name] != value {
				t.Errorf("of %s predicates read %v, want %v", sent, got, want)
			}
		}
	}
}
