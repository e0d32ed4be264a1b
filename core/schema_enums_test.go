package core_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/mailhelm/mailhelm/core"
	"pgregory.net/rapid"
)

// paintIn has an enumeration at each place where an input schema can have one.
type paintIn struct {
	Colour  string            `json:"colour,omitempty" jsonschema:"enum=RED,enum=Dark_Blue"`
	Finish  *string           `json:"finish,omitempty" jsonschema:"nullable,enum=matt,enum=Gloss"`
	Coats   []paintCoat       `json:"coats,omitempty"`
	Rooms   paintRooms        `json:"rooms,omitempty"`
	Name    string            `json:"name,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Letter  string            `json:"letter,omitempty" jsonschema:"enum=a,enum=A"` // differ only in case
	Sticker json.RawMessage   `json:"sticker,omitempty"`
	Mixed   paintMixed        `json:"mixed,omitempty"`
}

type paintCoat struct {
	Kind  string   `json:"kind" jsonschema:"enum=primer,enum=TOP"`
	Tools []string `json:"tools,omitempty" jsonschema:"enum=brush,enum=Roller"`
}

// paintRooms is an array of words, or an object from a room's name to a word.
type paintRooms json.RawMessage

func (r *paintRooms) UnmarshalJSON(b []byte) error {
	*r = append(paintRooms{}, b...)
	return nil
}

func (paintRooms) JSONSchema() *jsonschema.Schema {
	word := &jsonschema.Schema{Type: "string", Enum: []any{"WALL", "Ceiling"}}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "array", Items: word}, {Type: "object", AdditionalProperties: word}, {Type: "null"}}}
}

// paintMixed is a word or any other text, so its case has a meaning.
type paintMixed string

func (paintMixed) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string", Enum: []any{"AUTO"}}, {Type: "string", MinLength: new(uint64)}}}
}

func paint() core.Operation {
	return core.Declare(core.Op[paintIn, struct{}]{Name: "paint", Purpose: "Paints.", Do: func(context.Context, *core.Call, paintIn) (struct{}, error) {
		return struct{}{}, nil
	}})
}

// TestEnumerationsAcceptAnyCase checks at each place of an enumeration that a value in
// another case becomes the schema's spelling, and that no other text changes.
func TestEnumerationsAcceptAnyCase(t *testing.T) {
	t.Parallel()
	op := paint()
	for sent, want := range map[string]string{
		`{"colour":"red"}`: `{"colour":"RED"}`,
		`{"colour":"RED"}`: `{"colour":"RED"}`,
		`{ "colour" : "DARK_blue" , "name" : "red" }`:                  `{"colour":"Dark_Blue","name":"red"}`,
		`{"colour":"\u0072e\u0064"}`:                                   `{"colour":"RED"}`,
		`{"col\u006fur":"red"}`:                                        `{"colour":"RED"}`,
		`{"finish":"GLOSS"}`:                                           `{"finish":"Gloss"}`,
		`{"finish":null}`:                                              `{"finish":null}`,
		`{"coats":[{"kind":"Primer","tools":["ROLLER","brush"]}]}`:     `{"coats":[{"kind":"primer","tools":["Roller","brush"]}]}`,
		`{"coats":[{"kind":"TOP"},{"kind":"top"}]}`:                    `{"coats":[{"kind":"TOP"},{"kind":"TOP"}]}`,
		`{"rooms":["wall","CEILING"]}`:                                 `{"rooms":["WALL","Ceiling"]}`,
		`{"rooms":{"wall":"Wall","Hall":"ceiling"}}`:                   `{"rooms":{"Hall":"Ceiling","wall":"WALL"}}`,
		`{"rooms":null,"colour":"Red"}`:                                `{"colour":"RED","rooms":null}`,
		`{"labels":{"colour":"red"},"name":"RED"}`:                     `{"labels":{"colour":"red"},"name":"RED"}`,
		`{"letter":"A"}`:                                               `{"letter":"A"}`,
		`{"mixed":"auto"}`:                                             `{"mixed":"auto"}`,
		`{"sticker":{"colour":"red"},"colour":"Red"}`:                  `{"colour":"RED","sticker":{"colour":"red"}}`,
		`{"sticker":{"kind":"red","kind":"\u0000"},"colour":"Red"}`:    `{"sticker":{"kind":"red","kind":"\u0000"},"colour":"RED"}`,
		`{"colour":"red","sticker":12345678901234567890,"name":"red"}`: `{"colour":"RED","sticker":12345678901234567890,"name":"red"}`,
	} {
		in, err := op.Decode(core.Agent, []byte(sent))
		if err != nil {
			t.Errorf("%s: %v", sent, err)
			continue
		}
		as, err := op.Decode(core.Agent, []byte(want))
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if got, wanted := encoded(t, in), encoded(t, as); got != wanted {
			t.Errorf("%s is decoded to %s, want %s", sent, got, wanted)
		}
		if got, err := op.Input(core.Agent).Canonical([]byte(sent)); err != nil || string(got) != want {
			t.Errorf("%s has the canonical form %s, want %s (%v)", sent, got, want, err)
		}
	}
}

func encoded(t *testing.T, in any) string {
	t.Helper()
	of := in.(paintIn)
	rooms := []byte("null")
	if of.Rooms != nil {
		var err error
		if rooms, err = core.CanonicalJSON(of.Rooms); err != nil {
			t.Fatal(err)
		}
	}
	of.Rooms = nil
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + string(rooms)
}

// TestRefusedWordsNameTheAllowedOnes checks that a value that is in no case a word of the
// enumeration is refused, and that the refusal has the words as the schema spells them.
func TestRefusedWordsNameTheAllowedOnes(t *testing.T) {
	t.Parallel()
	op := paint()
	for raw, reason := range map[string]string{
		`{"colour":"redd"}`:           "must be one of RED, Dark_Blue",
		`{"colour":" red"}`:           "must be one of RED, Dark_Blue",
		`{"colour":""}`:               "must be one of RED, Dark_Blue",
		`{"colour":"dark blue"}`:      "must be one of RED, Dark_Blue",
		`{"colour":"dar\u212a_blue"}`: "must be one of RED, Dark_Blue", // a Kelvin sign
		`{"finish":"glo\u017fs"}`:     "must be one of",                // a long s
		`{"rooms":["floor"]}`:         "must be one of WALL, Ceiling",
		`{"letter":"B"}`:              "must be one of a, A",
		`{"Colour":"red"}`:            "is unknown",
	} {
		_, err := op.Decode(core.REST, []byte(raw))
		if e := core.AsError(err); e == nil || len(e.Fields) != 1 || !strings.HasPrefix(e.Fields[0].Reason, reason) {
			t.Errorf("%s: %v, want %q", raw, err, reason)
		}
	}
}

// TestOutputSchemasAreExact checks that the tolerance is for callers only: a result whose
// value has another case is an error of Mailhelm.
func TestOutputSchemasAreExact(t *testing.T) {
	t.Parallel()
	type painted struct {
		Colour string `json:"colour" jsonschema:"enum=RED"`
	}
	op := core.Declare(core.Op[struct{}, painted]{Name: "painted", Purpose: "Paints.", Do: func(context.Context, *core.Call, struct{}) (painted, error) {
		return painted{}, nil
	}})
	for raw, fits := range map[string]bool{`{"colour":"RED"}`: true, `{"colour":"red"}`: false} {
		if err := op.Output(core.Agent).Check([]byte(raw)); (err == nil) != fits {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestCanonicalWord checks that only ASCII letters may differ in case.
func TestCanonicalWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[oOpPtT_iInNuU\x{017f}\x{212a}]{0,8}`).Draw(t, "text")
		got := core.CanonicalWord(text, "OPT_IN", "opt_out")
		want := text
		for _, word := range []string{"OPT_IN", "opt_out"} {
			if strings.EqualFold(text, word) {
				want = word
			}
		}
		if got != want {
			t.Fatalf("%q becomes %q, want %q", text, got, want)
		}
	})
	if got := core.CanonicalWord("\u212aeep", "keep"); got != "\u212aeep" {
		t.Errorf("a Kelvin sign becomes a k: %q", got)
	}
}

// BenchmarkArguments decodes the arguments of a call and computes their canonical form, as
// a write does. "canonical" must allocate as much as "none", which has no enumerated value;
// "other case" pays for the correction.
func BenchmarkArguments(b *testing.B) {
	op := paint()
	for name, text := range map[string]string{
		"none":       `{"labels":{"Hall":"WALL"},"name":"RED"}`,
		"canonical":  `{"labels":{"Hall":"WALL"},"colour":"RED"}`,
		"other case": `{"labels":{"Hall":"WALL"},"colour":"Red"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			raw := []byte(text)
			for b.Loop() {
				if _, err := op.Decode(core.Agent, raw); err != nil {
					b.Fatal(err)
				}
				if _, err := op.Input(core.Agent).Canonical(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
