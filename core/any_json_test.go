package core_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

type boxIn struct {
	Name  string          `json:"name,omitempty"`
	Boxes []box           `json:"boxes,omitempty"`
	Whole json.RawMessage `json:"whole,omitempty"`
}

type box struct {
	Label   string          `json:"label,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
}

func boxes() core.Operation {
	return core.Declare(core.Op[boxIn, struct{}]{Name: "boxes", Purpose: "Boxes.", Do: func(context.Context, *core.Call, boxIn) (struct{}, error) {
		return struct{}{}, nil
	}})
}

// TestAnyJSONIsAcceptedWhereDeclared checks that values of any JSON type are accepted and
// returned byte for byte at the paths where the schema declares them, and refused
// elsewhere.
func TestAnyJSONIsAcceptedWhereDeclared(t *testing.T) {
	t.Parallel()
	op := boxes()
	for content, want := range map[string]bool{
		`{"a":1,"a":2}`: true, `12345678901234567890`: true, `1e999`: true, `"\u0000"`: true, `"\ud800"`: true, `null`: true, ` [ 1 , 2 ] `: true,
		`"]]]["`: true, strings.Repeat("[", 61) + strings.Repeat("]", 61): true, strings.Repeat("[", 62) + strings.Repeat("]", 62): false,
		`{"a":1,}`: false, "\"\xff\"": false, `01`: false, ``: false, `1 2`: false, strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000): false,
	} {
		in, err := op.Decode(core.REST, []byte(`{"name":"n","boxes":[{"label":"l"},{"content":`+content+`}]}`))
		if (err == nil) != want {
			t.Errorf("%.40s: %v", content, err)
		}
		if got, ok := in.(boxIn); ok && err == nil && string(got.Boxes[1].Content) != strings.TrimSpace(content) {
			t.Errorf("%.40s became %s", content, got.Boxes[1].Content)
		}
	}
	if _, err := op.Decode(core.Agent, []byte(`{"whole":{"a":1,"a":1e999}}`)); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{
		`{"name":"\u0000","whole":{"a":1,"a":2}}`, `{"whole":1,"whole":{"a":1,"a":2}}`, `{"boxes":[{"label":"a","label":"b","content":"\u0000"}]}`,
		`{"boxes":{"content":{"a":1,"a":2}}}`, `{"content":{"a":1,"a":2}}`, `{"whole":{"a":1,"a":2}}{}`, `{"whole":"\u0000"`, `[{"whole":"\u0000"}]`,
	} {
		if _, err := op.Decode(core.REST, []byte(wrong)); core.AsError(err) == nil || core.AsError(err).Code != core.CodeValidationFailed {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestArgumentsWithoutACanonicalFormAreComparedByBytes compares arguments whose JSON has no
// canonical form, such as a member named twice. They must be compared by their bytes, so
// that two different values never count as equal.
func TestArgumentsWithoutACanonicalFormAreComparedByBytes(t *testing.T) {
	t.Parallel()
	schema := boxes().Input(core.Agent)
	form := func(text string) string {
		b, err := schema.Canonical([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if form(`{"whole":1.0 , "name":"a"}`) != form(`{"name":"a","whole":1}`) {
		t.Error("the same text in another spelling is another")
	}
	if form(`{"whole":12345678901234567890}`) == form(`{"whole":12345678901234567891}`) || form(`{"whole":{"a":1,"a":2}}`) == form(`{"whole":{"a":2}}`) {
		t.Error("two texts are taken for one")
	}
}

// FuzzAnyJSON checks that an accepted text at a declared path is valid JSON, and that the
// rest of the value is checked as strictly as if no path were declared.
func FuzzAnyJSON(f *testing.F) {
	op := boxes()
	for _, seed := range []string{`{"a":1,"a":2}`, `"\ud800"`, `1e999`, `"]`, `1},{"content":2`, `1}],"name":"\u0000","boxes":[{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		raw := append(append([]byte(`{"boxes":[{"content":`), content...), `}]}`...)
		in, err := op.Decode(core.REST, raw)
		if err != nil {
			return
		}
		got := in.(boxIn)
		if !json.Valid(raw) || strings.ContainsRune(got.Name, 0) {
			t.Fatalf("%q was taken as %+v", raw, got)
		}
		for _, b := range got.Boxes {
			if core.CheckJSON([]byte(`{"label":`+quote(t, b.Label)+`}`)) != nil {
				t.Fatalf("%q has the label %q", raw, b.Label)
			}
		}
	})
}

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
