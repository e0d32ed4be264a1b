package handlebars_test

import (
	"strings"
	"testing"

	"github.com/mailgun/raymond/v2"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"pgregory.net/rapid"
)

// drawData draws the data of a template. It avoids values that raymond treats in another
// way than handlebars.js, which is the standard:
//
//   - raymond prints arrays without commas, and numbers never with an exponent;
//   - null that is repeated does not become the current value;
//   - members of objects are in random order, so each object that is repeated has one;
//   - {{#with 0}} renders the other arm.
func drawData(t *rapid.T) map[string]any {
	some := rapid.OneOf(
		rapid.Just[any](true), rapid.Just[any](false), rapid.Just[any](0.0), rapid.Just[any](12.5), rapid.Just[any](""),
		rapid.Map(rapid.StringN(1, 6, -1), func(s string) any { return s }),
	)
	scalar := rapid.OneOf(rapid.Just[any](nil), some)
	object := func() any { return map[string]any{"x": some.Draw(t, "member")} }
	var objects []any
	for range rapid.IntRange(0, 3).Draw(t, "objects") {
		objects = append(objects, object())
	}
	return map[string]any{
		"a": scalar.Draw(t, "a"), "b": scalar.Draw(t, "b"), "o": object(), "none": []any{},
		"rows": objects, "words": []any{"v", "w<", "'"}, "nested": []any{[]any{"1", "2"}, []any{}, []any{"3"}},
	}
}

// sourceOf draws templates of the subset. Texts begin and end with characters that are not
// white space: raymond judges lines by the text that whitespace control has left, not by
// the text as written. Names are those of the current value: raymond looks for others in
// the values around it.
type sourceOf struct {
	*rapid.T
	raw bool
}

// scope is what the names in a program mean: printable values and arrays or objects.
type scope struct{ printed, repeated []string }

var (
	root = scope{
		printed:  []string{"a", "b", "o.x", "o/x", "this.a", "./b", "@root.a", "@root.o.x", "missing", "missing.x", "words.[1]", "rows.[0].x", "@index", "@first"},
		repeated: []string{"o", "none", "rows", "words", "nested", "missing", "@root.rows"},
	}
	anywhere = scope{printed: []string{"@root.a", "@root.o.x", "@root.words.[0]"}, repeated: []string{"@root.rows", "@root.none", "@root.words"}}
)

// inside returns the scope in a block.
func (s sourceOf) inside(name, path string, around scope) scope {
	var in scope
	switch {
	case name != "each" && name != "with":
		return around
	case name == "each":
		in.printed = []string{"@index", "@first", "@last"}
	}
	switch path = path[strings.LastIndexByte(path, '.')+1:]; {
	case path == "rows" && name == "each", path == "o" && name == "with":
		in.printed = append(in.printed, "x", "this.x", "./x")
	case name == "each" && (path == "words" || path == "o" || path == "this"):
		in.printed = append(in.printed, "this", ".")
	case path == "nested":
		in.repeated = []string{"this"}
	}
	for _, p := range around.printed {
		if !strings.Contains(p, "@") && !strings.Contains(p, "th") && !strings.HasPrefix(p, ".") {
			in.printed = append(in.printed, "../"+p)
		}
	}
	return scope{append(in.printed, anywhere.printed...), append(in.repeated, anywhere.repeated...)}
}

func (s sourceOf) pick(of ...string) string { return rapid.SampledFrom(of).Draw(s.T, "of") }

func (s sourceOf) text() string {
	return s.pick("a", "b c", "<p>é</p>", "x\ny", "-", `"'=`, "&amp;")
}

func (s sourceOf) value(in scope) string {
	path := s.pick(in.printed...)
	if s.raw {
		return s.pick("{{{"+path+"}}}", "{{&"+path+"}}", "{{~{"+path+"}~}}")
	}
	return s.pick("{{"+path+"}}", "{{ "+path+" }}", "{{~"+path+"}}", "{{"+path+"~}}")
}

func (s sourceOf) block(depth int, in scope) string {
	name := s.pick("if", "unless", "each", "with")
	path := s.pick(in.repeated...)
	if name == "if" || name == "unless" {
		path = s.pick(append(in.printed, in.repeated...)...)
	}
	body := s.inside(name, path, in)
	source := "{{#" + name + " " + path + s.pick("}}", "~}}") + s.program(depth-1, body)
	if name == "if" && rapid.Bool().Draw(s.T, "chain") {
		source += "{{else if " + s.pick(in.printed...) + "}}" + s.program(depth-1, in)
	}
	if rapid.Bool().Draw(s.T, "else") {
		source += s.pick("{{else}}", "{{^}}", "{{~else~}}") + s.program(depth-1, in)
	}
	return source + s.pick("{{/", "{{~/") + name + "}}"
}

func (s sourceOf) program(depth int, in scope) string {
	source := ""
	for range rapid.IntRange(0, 3).Draw(s.T, "nodes") {
		source += s.text()
		switch kind := rapid.IntRange(0, 4).Draw(s.T, "kind"); {
		case kind < 2:
			source += s.value(in)
		case kind < 4 && depth > 0:
			source += s.block(depth, in)
		default:
			source += s.pick("{{! c }}", "{{!-- }} --}}", `\{{a}} `)
		}
		source += s.text()
	}
	return source
}

// likeHandlebarsJS replaces the entity of raymond that differs from that of handlebars.js.
// raymond does not escape ` and =.
var likeHandlebarsJS = strings.NewReplacer("&apos;", "&#x27;")

// withoutEntities removes the entities that only handlebars.js uses.
var withoutEntities = strings.NewReplacer("&#x60;", "`", "&#x3D;", "=")

// TestLikeRaymond compares random templates with another implementation. Raw values are
// compared in the mode Text, escaped ones in the mode HTML in text, where the differences
// are the entities of ' ` and =.
func TestLikeRaymond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := drawData(t)
		raw := rapid.Bool().Draw(t, "raw")
		mode := handlebars.HTML
		if raw {
			mode = handlebars.Text
		}
		source := sourceOf{t, raw}.program(3, root)
		template, err := handlebars.Parse(source, mode)
		if err != nil {
			t.Fatalf("%q: %v", source, err)
		}
		out, err := template.Execute(nil, data, handlebars.Limits{})
		if err != nil {
			t.Fatalf("%q: %v", source, err)
		}
		want, err := raymond.Render(source, data)
		if err != nil {
			t.Fatalf("raymond: %q: %v", source, err)
		}
		got := string(out)
		if !raw {
			got, want = withoutEntities.Replace(got), withoutEntities.Replace(likeHandlebarsJS.Replace(want))
		}
		if got != want {
			t.Fatalf("%q with %v:\n%q\nraymond: %q", source, data, got, want)
		}
	})
}
