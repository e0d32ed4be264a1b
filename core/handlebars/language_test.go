package handlebars_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/handlebars"
)

// parse compiles a source without faults.
func parse(t testing.TB, source string, mode handlebars.Mode) *handlebars.Template {
	t.Helper()
	template, err := handlebars.Parse(source, mode)
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	return template
}

func render(t testing.TB, source string, mode handlebars.Mode, data map[string]any) string {
	t.Helper()
	out, err := parse(t, source, mode).Execute(nil, data, handlebars.Limits{})
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	return string(out)
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var data map[string]any
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// fact is the result of one template. It is that of handlebars.js 4.7.8, unless a comment
// names the other result.
type fact struct{ source, data, want string }

var facts = []fact{
	// Values.
	{"{{a}} {{{a}}} {{&a}} {{ a }}", `{"a":"<b>"}`, "<b> <b> <b> <b>"},
	{"{{a}}{{b}}{{c}}{{d}}", `{"a":null,"b":false,"c":0,"d":""}`, "false0"},
	{"{{a}} {{b}} {{c}} {{d}} {{e}}", `{"a":1e21,"b":1e-7,"c":0.1,"d":-0,"e":123456789012345678901}`, "1e+21 1e-7 0.1 0 123456789012345680000"},
	{"{{a}}", `{"a":[1,[2,3],null,true,"x"]}`, "1,2,3,,true,x"},
	{"[{{a}}]", `{"a":{"b":1}}`, "[]"}, // handlebars.js: [object Object]
	{"{{a.b.c}}{{a.x.c}}{{x.b}}", `{"a":{"b":{"c":1}}}`, "1"},
	{"{{a/b}}{{this.a.b}}{{./a.b}}{{this/a/b}}", `{"a":{"b":1}}`, "1111"},
	{"{{[a b]}}{{a.[c.d]}}{{[e\\]f]}}", `{"a b":1,"a":{"c.d":2},"e]f":3}`, "123"},
	{"{{a.[1]}}{{a.[01]}}{{a.[2]}}{{a.1.b}}", `{"a":[0,{"b":5}]}`, "5"},
	{"{{a.1}}", `{"a":["x","y"]}`, "y"}, // handlebars.js: a syntax error at the end of a path
	{"{{a.length}}{{b.length}}{{c.length}}", `{"a":[1,2],"b":"é😀","c":{}}`, "23"},
	{"{{a-b}}{{ü}}{{a?}}{{a:b}}{{1x}}", `{"a-b":1,"ü":2,"a?":3,"a:b":4,"1x":5}`, "12345"},
	{"{{elsewhere}}{{this.if}}", `{"elsewhere":1,"if":2}`, "12"},
	{"{{../a}}{{@index}}{{@../key}}", `{"a":1}`, ""},
	// Conditions.
	{"{{#if a}}1{{else}}0{{/if}}", `{"a":"x"}`, "1"},
	{"{{#if a}}1{{^}}0{{/if}}", `{"a":[]}`, "0"},
	{"{{#if a}}1{{else}}0{{/if}}{{#if b}}1{{else}}0{{/if}}", `{"a":{},"b":0}`, "10"},
	{"{{#if a}}1{{else if b}}2{{else unless c}}3{{else}}4{{/if}}", `{"c":true}`, "4"},
	{"{{#if a}}1{{else if b}}2{{else unless c}}3{{else}}4{{/if}}", `{}`, "3"},
	{"{{#unless a}}1{{else}}0{{/unless}}", `{"a":null}`, "1"},
	{"{{#if a}}{{../b}}{{b}}{{/if}}", `{"a":1,"b":2}`, "2"},
	// Loops.
	{"{{#each a}}{{@index}}{{@key}}{{@first}}{{@last}}{{this}} {{/each}}", `{"a":["x","y"]}`, "00truefalsex 11falsetruey "},
	{"{{#each a}}{{@key}}={{.}}{{@index}} {{/each}}", `{"a":{"b":"B","c":"C","10":1,"9":2}}`, "9=20 10=11 b=B2 c=C3 "},
	{"{{#each a}}x{{else}}none{{/each}}", `{"a":{}}`, "none"},
	{"{{#each a}}x{{else}}none{{/each}}", `{"a":"text"}`, "none"},
	{"{{#each a}}{{#each this}}{{@../index}}{{@index}}{{../../b}} {{/each}}{{/each}}", `{"a":[[1],[2,3]],"b":"B"}`, "00B 10B 11B "},
	{"{{#each a}}{{#if this}}{{this}}{{else}}-{{/if}}{{/each}}", `{"a":[1,0,null,""]}`, "1---"},
	{"{{#each a}}{{b}}{{@root.b}}{{/each}}{{@root.c.d}}", `{"a":[{"b":1}],"b":2,"c":{"d":3}}`, "123"},
	{"{{#each a}}x{{else if b}}y{{/each}}", `{"b":1}`, "y"},
	{"{{#with a}}{{b}}{{../c}}{{/with}}", `{"a":{"b":1},"c":2}`, "12"},
	{"{{#with a}}{{b}}{{else}}none{{/with}}", `{"a":null}`, "none"},
	{"{{#with a}}[{{this}}]{{else}}none{{/with}}", `{"a":0}`, "[0]"},
	{"{{#with this}}{{../a}}{{/with}}", `{"a":1}`, "1"}, // handlebars.js: "", because the value has not changed
	// Comments, partials and assets.
	{"a{{! }b }}{{!-- }} --}}{{!-- ~}} --}}c", `{}`, "ac"},
	{"a{{> b}}{{> b/c d}}{{> \"e f\"}}c", `{}`, "ac"},
	{`{{asset "a/b.png"}}{{{asset 'c'}}}`, `{}`, `{{asset "a/b.png"}}{{{asset 'c'}}}`}, // handlebars.js: an unknown helper
	// Escapes of tags.
	{`\{{a}} {{a}} \\{{a}} \\\{{a}} \{{a}}\{{b}}`, `{"a":1}`, `{{a}} 1 \1 \\1 {{a}}{{b}}`},
	// White space.
	{" {{~a~}} \n {{a}} {{~{a}~}} b", `{"a":1}`, "111b"},
	{"a\n{{#if b}}\n c\n{{else}}\n d\n{{/if}}\ne\n", `{"b":1}`, "a\n c\ne\n"},
	{"a\n  {{#if b}}  \n c\n  {{/if}}\t\ne", `{"b":1}`, "a\n c\ne"},
	{"a {{#if b}}\nc{{/if}}\n", `{"b":1}`, "a \nc\n"},
	{"{{#each a}}\n<{{.}}>\n{{/each}}", `{"a":[1,2]}`, "<1>\n<2>\n"},
	{"a\n {{! b }} \nc\n{{> d}}\ne", `{}`, "a\nc\ne"},
	{"{{! b }}  {{a}}", `{"a":1}`, "  1"},
	{"a {{#if b}} c {{~else~}} d {{/if}} e", `{"b":0}`, "a d  e"},
	{"a\n{{#if b}}\n1\n{{else if c}}\n2\n{{else}}\n3\n{{/if}}\n", `{"c":1}`, "a\n2\n"},
	{"{{#if b}}1 {{else if c}} 2 {{else}} 3 {{~/if}} d", `{"c":1}`, " 2 d"},
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, f := range facts {
		for _, number := range []bool{false, true} {
			data := object(t, f.data)
			if number {
				decoder := json.NewDecoder(strings.NewReader(f.data))
				decoder.UseNumber()
				if err := decoder.Decode(&data); err != nil {
					t.Fatal(err)
				}
			}
			if got := render(t, f.source, handlebars.Text, data); got != f.want {
				t.Errorf("%s with %s: %q instead of %q", f.source, f.data, got, f.want)
			}
		}
	}
}

// TestOtherTypesPrintNothing checks values that encoding/json does not give.
func TestOtherTypesPrintNothing(t *testing.T) {
	t.Parallel()
	data := map[string]any{"a": 1, "b": []string{"x"}, "c": func() string { return "x" }, "d": errors.New("x"), "e": json.Number("x")}
	if got := render(t, "{{a}}{{b}}{{c}}{{d}}{{e}}{{#if a}}x{{/if}}{{#each b}}x{{/each}}{{d.Error}}", handlebars.Text, data); got != "" {
		t.Errorf("%q", got)
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	type variables = []handlebars.Variable
	for source, want := range map[string]variables{
		"{{a}}{{{b.c}}}{{a}}{{@root.d}}{{this.e}}":                            {{"a", true}, {"b.c", true}, {"d", true}, {"e", true}},
		"{{#if a}}{{b}}{{else if c}}{{/if}}{{a}}":                             {{"a", true}, {"b", false}, {"c", false}},
		"{{#each a}}{{b}}{{../c}}{{@index}}{{@root.d}}{{else}}{{e}}{{/each}}": {{"a", false}, {"c", false}, {"d", false}, {"e", false}},
		"{{#with a}}{{#with b}}{{../c}}{{../../d}}{{/with}}{{/with}}":         {{"a", false}, {"d", false}},
		"{{this}}{{.}}{{../a}}{{@index}}{{> b}}{{asset \"c\"}}{{! d }}":       nil,
		"{{a.[b c].[0].d}}{{[this]}}":                                         {{"a.[b c].[0].d", true}, {"[this]", true}},
	} {
		if diff := cmp.Diff(want, parse(t, source, handlebars.HTML).Variables()); diff != "" {
			t.Errorf("%s: %s", source, diff)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	template := parse(t, "{{a}}{{b.c}}{{#if d}}{{e}}{{else}}{{f}}{{/if}}{{#each g}}{{x}}{{../h}}{{/each}}{{i}}{{j}}{{k}}", handlebars.HTML)
	data := object(t, `{"a":"","d":1,"g":[1,2],"i":{},"j":0,"k":[null]}`)
	if diff := cmp.Diff([]string{"a", "b.c", "e", "h", "i", "k"}, template.Missing(data)); diff != "" {
		t.Error(diff)
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	template := parse(t, `<img src="{{asset "a.png"}}"><img src={{asset "b"}}>{{asset "a.png"}}`, handlebars.HTML)
	if diff := cmp.Diff([]string{"a.png", "b"}, template.Assets()); diff != "" {
		t.Error(diff)
	}
	out, err := template.WithAssets(map[string]string{"a.png": "https://cdn.example/a?x=1&y=2"}).Execute(nil, nil, handlebars.Limits{})
	want := `<img src="https://cdn.example/a?x&#x3D;1&amp;y&#x3D;2"><img src={{asset "b"}}>https://cdn.example/a?x&#x3D;1&amp;y&#x3D;2`
	if string(out) != want || err != nil {
		t.Errorf("%s %v", out, err)
	}
	if got := render(t, "{{asset \"a\"}}", handlebars.HTML, nil); got != `{{asset "a"}}` {
		t.Errorf("the template without addresses has changed: %s", got)
	}
}

// TestLimitsOfAnExecution checks that each limit has its error, and that the output is
// returned as it was.
func TestLimitsOfAnExecution(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range handlebars.MaxDepth + 1 {
		deep = []any{deep}
	}
	items := make([]any, 2000)
	data := map[string]any{"text": strings.Repeat("<", 1000), "items": items, "deep": deep}
	loop := "{{#each items}}{{#each ../items}}{{/each}}{{/each}}"
	for _, c := range []struct {
		source string
		limits handlebars.Limits
		want   error
	}{
		{"{{text}}", handlebars.Limits{Output: 4000}, nil},
		{"{{text}}", handlebars.Limits{Output: 3999}, handlebars.ErrOutput},
		{"12345", handlebars.Limits{Output: 4}, handlebars.ErrOutput},
		{"{{#each items}}{{../text}}{{/each}}", handlebars.Limits{}, handlebars.ErrOutput},
		{loop, handlebars.Limits{}, handlebars.ErrSteps},
		{"{{items}}", handlebars.Limits{Steps: 2000}, handlebars.ErrSteps},
		{"{{deep}}", handlebars.Limits{}, handlebars.ErrDepth},
	} {
		out, err := parse(t, c.source, handlebars.HTML).Execute([]byte("before"), data, c.limits)
		if !errors.Is(err, c.want) || err != nil && string(out) != "before" || err == nil && len(out) != 4006 {
			t.Errorf("%s: %v, %d bytes", c.source, err, len(out))
		}
	}
}
