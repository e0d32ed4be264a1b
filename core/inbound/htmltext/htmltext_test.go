package htmltext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/inbound/htmltext"
)

func TestConvert(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		html, text string
		links      []htmltext.Link
	}{
		"paragraphs":  {html: "<h1>Hi</h1>\n<p>one\n two</p><p>three<br>four", text: "Hi\n\none two\n\nthree\nfour\n"},
		"table":       {html: "<table><tr><td>a<td>b</tr><tr><th>c</th><td>d</td></tr></table>", text: "a b\nc d\n"},
		"list":        {html: "<ul><li>a</li><li>b &amp; c</li></ul>", text: "- a\n- b & c\n"},
		"pre":         {html: "<pre>a\n  b</pre>c", text: "a\n  b\n\nc\n"},
		"not shown":   {html: "a<script>x</script><style>x</style><!-- x --><title>x</title><div style='DISPLAY : none'>x<div>x</div>x</div><p hidden>x</p>b", text: "ab\n"},
		"hidden void": {html: "a<input hidden>b<img hidden alt=x>c", text: "abc\n"},
		"handlebars":  {html: "{{#if x}}a{{/if}} {{! b }}", text: "{{#if x}}a{{/if}} {{! b }}\n"},
		"link": {
			html: "Go <a href=' https://a.example/?a=1&amp;b=2 '>to <b>a</b></a>.", text: "Go to a.\n",
			links: []htmltext.Link{{Address: "https://a.example/?a=1&b=2", Text: "to a", Start: 2, End: 7}},
		},
		"image link": {html: "<a href=x><img alt='Sign in'></a>", text: "Sign in\n", links: []htmltext.Link{{Address: "x", Text: "Sign in", End: 7}}},
		"link in link": {
			html: "<a href=x>a<a href=y>b</a>", text: "ab\n",
			links: []htmltext.Link{{Address: "x", Text: "a", End: 1}, {Address: "y", Text: "b", Start: 1, End: 2}},
		},
		"empty": {html: " <p> </p> "},
	} {
		got := htmltext.Convert(tc.html)
		if diff := cmp.Diff(htmltext.Document{Text: tc.text, Links: tc.links}, got); diff != "" {
			t.Errorf("%s (want, got):\n%s", name, diff)
		}
	}
}

// FuzzConvert checks any HTML: the text is UTF-8, it is not much longer than the HTML, and
// the offsets of links are in it, in order.
func FuzzConvert(f *testing.F) {
	f.Add("<p>Hi <a href=x>y</a><li><pre>\xff</pre>")
	f.Fuzz(func(t *testing.T, source string) {
		d := htmltext.Convert(source)
		if !utf8.ValidString(d.Text) || len(d.Text) > 3*len(source)+1 || d.Text != "" && !strings.HasSuffix(d.Text, "\n") {
			t.Errorf("%d bytes of text from %d: %.100q", len(d.Text), len(source), d.Text)
		}
		previous := 0
		for _, l := range d.Links {
			if l.Start < previous || l.End < l.Start || l.End > len(d.Text) || !utf8.ValidString(l.Text+l.Address) || len(l.Text) > 300 {
				t.Errorf("link %+v in %d bytes", l, len(d.Text))
			}
			previous = l.End
		}
	})
}
