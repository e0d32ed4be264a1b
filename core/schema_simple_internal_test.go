package core

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// simpleArguments has each kind of member of a simpleSchema.
type simpleArguments struct {
	Email string `json:"email" jsonschema:"required,format=idn-email,maxLength=20"`
	ID    string `json:"id,omitempty" jsonschema:"format=uuid" jsonschema_description:"An id."`
	Name  string `json:"name,omitempty" jsonschema:"minLength=2,maxLength=3"`
	Kind  string `json:"kind,omitempty" jsonschema:"enum=static,enum=dynamic"`
	All   bool   `json:"all,omitempty"`
}

// TestSimpleSchemasAcceptOnlyValidTexts draws JSON texts, right and wrong. The simple form of a
// schema must refuse each text that the schema refuses, and must accept some.
func TestSimpleSchemasAcceptOnlyValidTexts(t *testing.T) {
	t.Parallel()
	full := InputSchema[simpleArguments]()
	full.compile()
	simple := full.simple
	if simple == nil {
		t.Fatalf("no simple form of %s", full.text)
	}
	value := rapid.SampledFrom([]string{
		`"ada@example.com"`, `"ada"`, `"ada@exämple.com"`, `"a@example.com-which-is-long"`, `"0198c0de-0000-7000-8000-000000000000"`,
		`"abc"`, `"a"`, `"abcd"`, `"äö"`, `"a\u0000"`, "\"a\x00\"", "\"a\xff\"", `""`, `"static"`, `"STATIC"`, `"\u0061bc"`,
		`true`, `false`, `truefalse`, `True`, `null`, `1`, `[]`, `{}`, `"unterminated`,
	})
	name := rapid.SampledFrom([]string{`"email"`, `"id"`, `"name"`, `"kind"`, `"all"`, `"other"`, `"Email"`, `"\u0065mail"`, `email`, ``})
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t\r", "\v", ","})
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		text.WriteString(space.Draw(t, "space") + "{")
		for i := range rapid.IntRange(0, 3).Draw(t, "members") {
			if i > 0 {
				text.WriteString(",")
			}
			text.WriteString(space.Draw(t, "space") + name.Draw(t, "name") + ":" + space.Draw(t, "space") + value.Draw(t, "value"))
		}
		text.WriteString("}" + space.Draw(t, "space"))
		if !simple.accepts([]byte(text.String())) {
			return
		}
		accepted++
		if raw, err := full.checkDecoded([]byte(text.String())); err != nil || string(raw) != text.String() {
			t.Fatalf("%q was accepted: %q, %v", &text, raw, err)
		}
	})
	for _, right := range []string{
		`{"email":"ada@example.com"}`, ` { "email" : "a@b.example" , "all" : true, "kind":"static", "name":"ab" } `,
		`{"email":"a@b.example","id":"0198c0de-0000-7000-8000-000000000000"}`,
	} {
		if !simple.accepts([]byte(right)) {
			t.Errorf("%s was not accepted", right)
		}
	}
	t.Logf("accepted %d texts", accepted)
}

// TestOnlyFlatSchemasAreSimple checks types with members that a simpleSchema cannot check.
func TestOnlyFlatSchemasAreSimple(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]*Schema{
		"number": InputSchema[struct{ N int }](),
		"pattern": InputSchema[struct {
			Text string `jsonschema:"pattern=^a$"`
		}](),
		"array": InputSchema[struct{ All []string }](),
		"nullable": InputSchema[struct {
			Text *string `jsonschema:"nullable"`
		}](),
		"object": InputSchema[struct{ In struct{ A string } }](),
	} {
		if schema.generate(); schema.simple != nil {
			t.Errorf("%s: %s is taken as simple", name, schema.text)
		}
	}
}
