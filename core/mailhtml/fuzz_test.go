package mailhtml

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// addExamples adds inputs from which fuzzing starts.
func addExamples(f *testing.F) {
	f.Helper()
	for _, source := range []string{
		`<p class="a {{b}}">x{{#if y}}<b>{{else}}<i>{{/if}}z</p>`,
		`<a href="{{asset "x"}}">{{{raw}}}</a><!-- c --><ol start=3><li>a<li>b</ol>`,
		`<style>.a > td:first-child, #b { color: red !important; margin: 0 } @media print { a { b: c } }</style><td class=a style='x:y'>`,
		`<table {{#if a}}bgcolor="#fff"{{/if}}><tr><td>{{!-- <td> --}}\{{x}} &#123;&#123;`,
		"<pre>a\n b</pre><blockquote><ul><li>{{> p}}</ul></blockquote><img alt='{{~x~}}'>",
		`<style>a{b:c`, `<a b="`, `{{"`, `</`, `<!-->`, `{{{{raw}}}}`,
	} {
		f.Add(source)
	}
}

// FuzzText checks that Text accepts any input, and that its output is valid UTF-8, has no
// control characters, and is not much longer than the input.
func FuzzText(f *testing.F) {
	addExamples(f)
	f.Fuzz(func(t *testing.T, source string) {
		got := Text(source)
		if !utf8.ValidString(got) {
			t.Errorf("invalid UTF-8: %q", got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 && !strings.Contains(source, "{{") {
			t.Errorf("a control character at %d: %q", i, got)
		}
		if longest := 100 + len(source)*(maxIndent+2*maxQuotes+20); len(got) > longest {
			t.Errorf("%d bytes from %d", len(got), len(source))
		}
	})
}

// FuzzScan checks that tokens follow one another without gaps and lie within the source, and
// attributes within their token.
func FuzzScan(f *testing.F) {
	addExamples(f)
	f.Fuzz(func(t *testing.T, source string) {
		at := 0
		for _, token := range scan(source) {
			if token.start != at || token.end <= token.start {
				t.Fatalf("token %+v begins at %d", token, at)
			}
			at = token.end
			for _, a := range token.attributes {
				if a.start <= token.start || a.valueStart <= a.start || a.valueEnd < a.valueStart || a.end() > token.tail || token.tail >= token.end {
					t.Fatalf("attribute %+v of %+v", a, token)
				}
			}
		}
		if at != len(source) {
			t.Fatalf("the tokens end at %d of %d", at, len(source))
		}
	})
}

// tagsOf returns the tokens of a mail without text and without style elements in head. It
// leaves style attributes out.
func tagsOf(source string) string {
	var b strings.Builder
	d := parse(source)
	for _, token := range d.tokens {
		if token.kind == text || token.element != nil && token.element.name == "style" && token.element.parent.name == "head" {
			continue
		}
		if token.kind != startTag {
			b.WriteString(d.raw(token) + "\n")
			continue
		}
		b.WriteString(token.name)
		for _, a := range token.attributes {
			if a.name != "style" {
				b.WriteString(" " + source[a.start:a.end()])
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// FuzzInline checks that Inline accepts any input, does not change tags, and changes nothing
// when it is applied again.
func FuzzInline(f *testing.F) {
	addExamples(f)
	f.Fuzz(func(t *testing.T, source string) {
		once, err := Inline(source)
		if err != nil {
			return
		}
		if twice, err := Inline(once); err != nil || twice != once {
			t.Errorf("twice: %v\n%q\n%q\n%q", err, source, once, twice)
		}
		if before, after := tagsOf(source), tagsOf(once); before != after {
			t.Errorf("the tags changed:\n%q\n%q\n%s\n%s", source, once, before, after)
		}
	})
}

// FuzzLint checks that Lint accepts any input, that places are within it, and that the
// number of findings is bounded.
func FuzzLint(f *testing.F) {
	addExamples(f)
	f.Add(`<font color=red bgcolor="#ff0"><a href=#>{{unsubscribe_url}}<img width=9%>`)
	f.Fuzz(func(t *testing.T, source string) {
		found := Lint(Input{Subject: source, HTML: source, Text: source, Unsubscribe: true, Known: []string{"x"}, Variables: []string{source, "a", "b"}})
		if len(found) > 20*12 {
			t.Errorf("%d findings", len(found))
		}
		lines := strings.Split(source, "\n")
		for _, one := range found {
			if one.Line < 0 || one.Line > len(lines) || one.Line > 0 && (one.Column < 1 || one.Column > len(lines[one.Line-1])+1) {
				t.Errorf("%+v in %q", one, source)
			}
		}
	})
}
