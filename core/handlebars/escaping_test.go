package handlebars_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/handlebars"
)

// TestEscaping checks how one value is escaped at each place in HTML.
func TestEscaping(t *testing.T) {
	t.Parallel()
	const all = `a&<>"'` + "`= é"
	const entities = "a&amp;&lt;&gt;&quot;&#x27;&#x60;&#x3D; é"
	for _, c := range []struct{ source, x, want string }{
		{"{{x}}", all, entities},
		{"<p title=\"{{x}}\" data-a='{{x}}'>", all, `<p title="` + entities + `" data-a='` + entities + `'>`},
		{"<p title={{x}}>", "a b\n>", "<p title=a&#32;b&#10;&gt;>"},
		{"<p title={{x}} id=a{{x}}>", "", "<p title=&#32; id=a>"},
		{"<!-- {{x}} --><!DOCTYPE {{x}}>", "-->", "<!-- --&gt; --><!DOCTYPE --&gt;>"},
		{"<title>{{x}}</title><textarea><a href='{{x}}'>", "javascript:</title>", "<title>javascript:&lt;/title&gt;</title><textarea><a href='javascript:&lt;/title&gt;'>"},
		// Links.
		{`<a href="{{x}}">`, "https://a.example/?b=c&d=é f", `<a href="https://a.example/?b&#x3D;c&amp;d&#x3D;%C3%A9%20f">`},
		{`<a href="{{x}}">`, " java\nscript:alert(1)", `<a href="#">`},
		{`<a HREF='{{x}}'>`, "JAVASCRIPT:alert(1)", `<a HREF='#'>`},
		{`<a href={{x}}>`, "data:text/html,x", `<a href=#>`},
		{`<v:fill src="{{x}}"/>`, "vbscript:x", `<v:fill src="#"/>`},
		{`<a href="{{x}}">`, "/a:b", `<a href="/a:b">`},
		{`<a href="{{x}}">`, "MailTo:a@b.example", `<a href="MailTo:a@b.example">`},
		{`<a href="{{{x}}}">`, "https://a.example/?b=c&d", `<a href="https://a.example/?b=c&d">`},
		{`<a href="{{{x}}}">`, "&#106;avascript:alert(1)", `<a href="#">`},
		{`<a href="{{{y}}}{{{x}}}">`, "javascript:alert(1)", `<a href="#">`},
		{`<a href="{{y}}{{x}}">`, "javascript:alert(1)", `<a href="javascript%3Aalert(1)">`},
		{`<a href="java{{x}}">`, "script:alert(1)", `<a href="javascript%3Aalert(1)">`},
		{`<a href="https://a.example/{{x}}?b={{x}}&c={{x}}#{{x}}">`, "d/e&f=g:h", `<a href="https://a.example/d/e&amp;f&#x3D;g:h?b=d%2Fe%26f%3Dg%3Ah&c=d%2Fe%26f%3Dg%3Ah#d/e&amp;f&#x3D;g:h">`},
		{`<a href="{{y}}&utm={{x}}">`, "a b&c", `<a href="&utm=a%20b%26c">`},
		{`<a href="mailto:{{x}}">`, "a@b.example", `<a href="mailto:a@b.example">`},
		{`<a href="/{{#if x}}a?b=c{{/if}}&d={{x}}">`, "e&f", `<a href="/a?b=c&d=e%26f">`},
		{`<img srcset="{{x}} 2x">`, "https://a.example/b c", `<img srcset="https://a.example/b%20c 2x">`},
		// Style sheets.
		{`<p style="color:{{x}}">`, `red;background:url("javascript:x")`, `<p style="color:red\3B background\3A url\28 \22 javascript\3A x\22 \29 ">`},
		{`<p style="color:{{x}};width:{{x}}">`, "#0f0", `<p style="color:#0f0;width:#0f0">`},
		{`<p style="background:url('{{x}}')">`, "https://a.example/b c", `<p style="background:url('https\3A \2F \2F a.example\2F b\20 c')">`},
		{`<p style="background: URL( {{x}} )">`, "javascript:x", `<p style="background: URL( # )">`},
		{"<style>a{b:{{x}} }</style>", "</style><b>", "<style>a{b:\\3C \\2F style\\3E \\3C b\\3E  }</style>"},
		{"<style>{{{x}}}</style>", "a{b:c}", "<style>a{b:c}</style>"},
		// Conditional comments of Outlook.
		{`<!--[if mso]><a href="{{x}}"><![endif]-->{{x}}`, "javascript:x", `<!--[if mso]><a href="#"><![endif]-->javascript:x`},
		{`<!--[if !mso]><!--><a href="{{x}}"><!--<![endif]-->`, "javascript:x", `<!--[if !mso]><!--><a href="#"><!--<![endif]-->`},
		// Blocks.
		{`<td{{#if x}} title="{{x}}"{{/if}}><td {{#if x}}a{{else}}b{{/if}} {{#if x}}c {{/if}}d>`, "<", `<td title="&lt;"><td a c d>`},
		{`<a href="{{#if y}}{{y}}{{else}}{{x}}{{/if}}{{x}}">`, "javascript:x", `<a href="#javascript%3Ax">`},
		{`<a href="{{#each z}}{{this}}{{/each}}">`, "", `<a href="javascript%3Ax">`},
		{`<p{{#each z}} title="{{this}}"{{/each}}>`, "", `<p title="javascript:x">`},
	} {
		data := map[string]any{"x": c.x, "y": "", "z": []any{"javascript:x"}}
		if got := render(t, c.source, handlebars.HTML, data); got != c.want {
			t.Errorf("%s with %q:\n%s instead of\n%s", c.source, c.x, got, c.want)
		}
	}
}

// TestEscapingOfOtherValues checks that the parts of an array and numbers are escaped.
func TestEscapingOfOtherValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		x      any
		want   string
	}{
		{"{{x}}", []any{"<", []any{">", nil}}, "&lt;,&gt;,"},
		{`<a href="{{x}}">`, []any{"javascript:x"}, `<a href="#">`},
		{`<a href="{{x}}">`, []any{"javascript", "x:y"}, `<a href="javascript,x:y">`},
		{`<a href="/?{{x}}={{x}}">`, []any{1e21, true}, `<a href="/?1e+21,true=1e%2B21%2Ctrue">`},
		{`<p title={{x}}>`, []any{}, `<p title=&#32;>`},
		{`<p title={{x}}>`, map[string]any{}, `<p title=&#32;>`},
	} {
		if got := render(t, c.source, handlebars.HTML, map[string]any{"x": c.x}); got != c.want {
			t.Errorf("%s with %v: %s instead of %s", c.source, c.x, got, c.want)
		}
	}
}

// TestRefusedPlaces checks the places where values and blocks are faults, with the position
// and the beginning of the message.
func TestRefusedPlaces(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"<{{x}}>":                          "1:2 context a value cannot be the name of a tag",
		"</{{x}}>":                         "1:3 context a value cannot be the name of a tag",
		"<h{{x}}>":                         "1:3 context a value cannot be the name of a tag",
		"<p {{x}}>":                        "1:4 context a value cannot be in a tag",
		"<p {{{x}}}>":                      "1:4 context a value cannot be in a tag",
		"<p a{{x}}=1>":                     "1:5 context a value cannot be in a tag",
		"\n<script>{{x}}</script>":         "2:9 context a value cannot be in a script",
		"<SCRIPT src=a>{{{x}}}</SCRIPT>":   "1:15 context a value cannot be in a script",
		`<p onclick="{{x}}">`:              "1:13 context a value cannot be in an event handler",
		`<iframe srcdoc="{{x}}">`:          "1:17 context a value cannot be in an event handler or in srcdoc",
		`<p style={{x}}>`:                  "1:10 context a value in a style attribute needs quotes",
		`<a href="javascript:{{x}}">`:      "1:21 context a value cannot be in a link with this scheme",
		`<a href="java&#115;cript:{{x}}">`: "1:26 context a value cannot be in a link with this scheme",
		`<a href="{{x}}:{{x}}">`:           "1:15 context the part of a link before `:` depends",
		`<a href="{{#if x}}a{{/if}}b:c">`:  "1:28 context the part of a link before `:` depends",
		"<!--{{x}}>":                       "1:10 context `>` may end the comment",
		"<!-- {{x}}->":                     "1:12 context `>` may end the comment",
		"<!-- --{{x}}!>":                   "1:14 context `>` may end the comment",
		"<!--[if mso]><p title={{x}}>":     "1:28 context `>` may end the comment",
		"<title></{{x}}":                   "1:10 context a value cannot be part of an end tag",
		`{{#if x}}<p title="{{/if}}">`:     "1:1 context the arms of the block `if` end in different places",
		"{{#if x}}<script>{{/if}}":         "1:1 context the arms of the block `if` end in different places",
		`{{#each x}}<p title="{{/each}}`:   "1:1 context the block `each` begins in text and ends in the value of an attribute",
		`<p {{#each x}}a{{/each}}>`:        "1:4 context the block `each` begins in a tag",
		`<p {{#if x}}a{{/if}}b>`:           "1:21 context a name in a tag may be longer",
		`<p {{#if x}}a{{/if}}=b>`:          "1:21 context an attribute begins with `=`",
	} {
		found := faultsOf(t, source, handlebars.HTML)
		if len(found) == 0 || !strings.HasPrefix(found[0], want) {
			t.Errorf("%s: %q instead of %q", source, found, want)
		}
		if found := faultsOf(t, source, handlebars.Text); found != nil {
			t.Errorf("%s in the mode Text: %q", source, found)
		}
	}
}
