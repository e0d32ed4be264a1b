package mailhtml

import (
	"strings"
	"testing"
)

// TestText checks the plain text of short pieces of HTML.
func TestText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, html, want string }{
		{"nothing", "", ""},
		{"only invisible characters", "&#847;&zwnj;&nbsp; &#8203;", ""},
		{"white space", "  a \n\t b<!-- c --> d ", "a b d\n"},
		{"character references", "1 &lt; 2 &amp;&#x2014; 3&nbsp;&euro;", "1 < 2 &\u2014 3 €\n"},
		{"a reference that shows braces", "&#123;&#123;x}} {<b>{</b>{y", "\\{{x}} \\{{{y\n"},
		{"an escaped tag", `\{{x}}`, "\\{{x}}\n"},
		{"backslashes before a tag", `&#92;{{x}} a\<b>{{y}}</b> b\\{{z}}`, "\\ {{x}} a\\ {{y}} b\\\\{{z}}\n"},
		{"an escaped block", `<ol>\{{#if x}}<li>a</ol>`, "   \\{{#if x}}\n1. a\n"},
		{"a brace before a tag", "{<b>{{x}}</b>}", "{ {{x}} }\n"},
		{"a link", `<a href="https://a.example/?x=1&amp;y={{y}}">See</a>.`, "See (https://a.example/?x=1&y={{y}}).\n"},
		{"a link with its own address", `<a href="https://a.example/">a.example</a>`, "a.example\n"},
		{"an address of mail", `<a href="mailto:x@a.example?subject=Hi">write</a>`, "write (x@a.example)\n"},
		{"links that lead nowhere", `<a href="#a">a</a> <a href=" JavaScript:x">b</a> <a href="java&#10;script:x">c</a> <a>d</a>`, "a b c d\n"},
		{"an address with line breaks", "<a href=\"https://a.example/&#10;b c\">x</a>", "x (https://a.example/b%20c)\n"},
		{"a quoted tag in an attribute", `<a href="{{asset "a>b"}}">x</a> <b {{#if "a>b"}}c{{/if}}>y</b>`, "x ({{asset \"a>b\"}}) y\n"},
		{"an image", `<img alt="Caf&eacute; {{name}}"> <img alt=""> <img>`, "Café {{name}}\n"},
		{"hidden elements", `<div hidden>a</div><span style="DISPLAY : none !important">b<span>c</span></span>d<div style="mso-hide:all">e`, "d\n"},
		{"elements that rules hide", "<style>.a{display:none!important}tr{mso-hide:all}</style>x<p class=a>y<table><tr><td>z", "x\n"},
		{"a hidden block of tags", `<div hidden>{{#if a}}x{{else}}y{{/if}}</div>{{#if b}}z{{/if}}`, "{{#if b}}\nz{{/if}}\n"},
		{"raw elements", "<style>a > b {}</style><title>t</title>x<script>1<2</script>y", "xy\n"},
		{"an unclosed start tag", `x <a href="y`, "x <a href=\"y\n"},
		{"an unclosed comment", "x <!-- y", "x\n"},
		{"an unclosed tag", "x {{y", "x \\{{y\n"},
		{"a comment of Handlebars", "x{{!-- <p> }} --}}y{{! z }}", "xy\n"},
		{"white space control", "{{~#if x~}}a{{~else~}}b{{~/if~}}", "{{~#if x~}}\na{{~else~}}b{{~/if~}}\n"},
		{"rows without end tags", "<table>{{#each r}}<tr><td>{{a}}<td>{{b}}{{/each}}</table>", "{{#each r}}\n{{a}} | {{b}}\n{{/each}}\n"},
		{"arms with start tags", "{{#if a}}<div hidden>{{else}}<div>{{/if}}x</div>y", "{{#if a}}\n{{else}}\n{{/if}}\nx\ny\n"},
		{"preformatted text", "<pre>a  b\r\n  c</pre>d", "a  b\n  c\n\nd\n"},
		{"line breaks", "a<br>b<br><br><br>c", "a\nb\n\nc\n"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb\n"},
	} {
		if got := Text(tc.html); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestTextWraps checks that lines are wrapped between words, and tags are not divided.
func TestTextWraps(t *testing.T) {
	t.Parallel()
	text := Text("<p>" + strings.Repeat("wörter {{#if a b c}}x{{/if}} ", 100))
	for line := range strings.Lines(text) {
		if n := len([]rune(line)) - 1; n > lineWidth {
			t.Errorf("a line of %d characters: %q", n, line)
		}
	}
	if n := strings.Count(text, "{{#if a b c}}x{{/if}}"); n != 100 {
		t.Errorf("%d of 100 tags are whole", n)
	}
}
