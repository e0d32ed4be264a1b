package core

import (
	"reflect"
	"testing"
)

// TestCanonicalWordsAllocateNothing checks that a decoded value whose enumerated texts are
// spelled as in the schema is neither changed nor copied.
func TestCanonicalWordsAllocateNothing(t *testing.T) { //nolint:paralleltest // allocations of others would be counted
	type coat struct {
		Kind string `json:"kind" jsonschema:"enum=primer,enum=TOP"`
	}
	type in struct {
		Colour string `json:"colour" jsonschema:"enum=RED"`
		Coats  []coat `json:"coats"`
	}
	schema := mustSchema(reflect.TypeFor[in](), Agent, closed)
	schema.generate()
	enumerated := schema.enums
	value, err := decodeJSON([]byte(`{"colour":"RED","coats":[{"kind":"primer"},{"kind":"TOP"}]}`))
	if err != nil || enumerated == nil {
		t.Fatal(enumerated, err)
	}
	if got := testing.AllocsPerRun(100, func() {
		if _, changed := enumerated.respell(value); changed {
			t.Error("a canonical value was changed")
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
