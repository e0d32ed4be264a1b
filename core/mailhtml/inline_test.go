package mailhtml

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// inlineCases has short mails: their rules, their body, the rules that are left, and the body
// with the rules applied.
var inlineCases = []struct{ name, rules, body, left, want string }{
	{
		"order", "p{color:red;margin:0}p{color:blue}", "<p>x", "",
		`<p style="margin:0;color:blue">x`,
	},
	{
		"specificity", "#a{c:1}p.b{c:2}p{c:3;d:3}", `<p id=a class=b><p class="b z">`, "",
		`<p style="d:3;c:1" id=a class=b><p style="d:3;c:2" class="b z">`,
	},
	{
		"the style attribute wins", "p{color:red;margin:0}", `<p style="COLOR:blue">`, "",
		`<p style="margin:0;color:blue">`,
	},
	{
		"important rules win", "p{color:red!important;margin:0 ! IMPORTANT}", `<p style="color:blue;margin:1px !important">`, "",
		`<p style="color:red;margin:1px !important">`,
	},
	{
		"values for old programs stay", "p{background:red;background:linear-gradient(red,blue)}", "<p>", "",
		`<p style="background:red;background:linear-gradient(red,blue)">`,
	},
	{
		"comments", "/* a */p{/* b */a:/* c */1 /* d */2/* e */;/* f */}", "<p>", "",
		`<p style="a:1 /* d */2">`,
	},
	{
		"escaped tags", "p{a:1}", `\{{#if x}}<p>`, "", `\{{#if x}}<p style="a:1">`,
	},
	{
		"combinators", "div>p{a:1}div i{b:2}p+p{c:3}h1~i{d:4}", "<div><h1></h1><p></p><p></p><i></i></div>", "",
		`<div><h1></h1><p style="a:1"></p><p style="a:1;c:3"></p><i style="b:2;d:4"></i></div>`,
	},
	{
		"positions and attributes", "td:first-child{a:1}td:NTH-child(2n){b:2}[align=left]:not(.x){c:3}", `<table><tr><td><td align="left"></table>`, "",
		`<table><tr><td style="a:1"><td style="b:2;c:3" align="left"></table>`,
	},
	{
		"tables without tbody", "table>tbody>tr>td{a:1}", "<table><tr><td></table>", "",
		`<table><tr><td style="a:1"></table>`,
	},
	{
		"escaped names", `.sm\:w-full{a:1}`, `<p class="sm:w-full">`, "",
		`<p style="a:1" class="sm:w-full">`,
	},
	{
		"quotation marks", `p{a:"x"}i{b:url("it's?a=1&b=2")}`, `<p><i style='c:"y"'>`, "",
		`<p style="a:'x'"><i style="b:url(&quot;it's?a=1&amp;b=2&quot;);c:&quot;y&quot;">`,
	},
	{
		"tags in values", `p{color:{{c}};background:url("{{asset "a.png"}}")}`, `<p style="margin:{{{m}}}">`, "",
		`<p style="color:{{c}};background:url('{{asset "a.png"}}');margin:{{{m}}}">`,
	},
	{
		"rules that stay", "a:hover{a:1}@media print{p{b:2}}p::before{c:3}.none{d:4}@font-face{e:f}p{x:y}", "<p><a>",
		"a:hover{a:1}@media print{p{b:2}}p::before{c:3}.none{d:4}@font-face{e:f}", `<p style="x:y"><a>`,
	},
	{
		"one selector of a rule stays", "a,a:hover{a:1}", "<a>", "a,a:hover{a:1}", `<a style="a:1">`,
	},
	{
		"invalid rules", "p{color red}p{b:(}p{c:1", "<p>", "p{color red}p{b:(}p{c:1", "<p>",
	},
	{
		"an invalid selector", "p, i}{a:1}}i{b:2}", "<p><i>", "p, i}{a:1}}i{b:2}", `<p><i>`,
	},
	{
		"a class from data", "p{a:1}.b{b:2}i{c:3}", `<p class="x {{y}}"><i>`, "p{a:1}.b{b:2}", `<p class="x {{y}}"><i style="c:3">`,
	},
	{
		"a repeated row", "td{a:1}tr:first-child td{b:2}i{c:3}", "<table>{{#each r}}<tr><td><i>{{/each}}</table>",
		"td{a:1}tr:first-child td{b:2}", `<table>{{#each r}}<tr><td><i style="c:3">{{/each}}</table>`,
	},
	{
		"a conditional rule", "p{a:1}{{#if x}}p{a:2}{{/if}}i{c:3}", "<p><i>", "p{a:1}{{#if x}}p{a:2}{{/if}}", `<p><i style="c:3">`,
	},
	{
		"a conditional style", "p{a:1}", `<p style="{{#if x}}b:2{{/if}}"><p {{#if x}}style="b:2"{{/if}}><p {{{x}}}>`, "p{a:1}",
		`<p style="{{#if x}}b:2{{/if}}"><p {{#if x}}style="b:2"{{/if}}><p style="a:1" {{{x}}}>`,
	},
	{
		"HTML from data", "p{a:1}", "<p>{{{x}}}", "p{a:1}", `<p style="a:1">{{{x}}}`,
	},
	{
		"arms with start tags", "div>p{a:1}.b>p{b:2}", "{{#if x}}<div class=b>{{else}}<div>{{/if}}<p></p></div>", ".b>p{b:2}",
		`{{#if x}}<div class=b>{{else}}<div>{{/if}}<p style="a:1"></p></div>`,
	},
	{
		"braces as character references", "p{a:1}", `<p style="b:'&#123;&#123;x}}'">`, "p{a:1}", `<p style="b:'&#123;&#123;x}}'">`,
	},
}

// TestInline checks what Inline makes of short mails. Each has its rules in a style element
// in head, which is removed if it is empty.
func TestInline(t *testing.T) {
	t.Parallel()
	headed := func(rules, body string) string {
		if rules != "" {
			rules = "<style>" + rules + "</style>"
		}
		return "<head><title>T</title>" + rules + "</head>" + body
	}
	for _, tc := range inlineCases {
		got, err := Inline(headed(tc.rules, tc.body))
		if want := headed(tc.left, tc.want); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tc.name, err, got, want)
		}
	}
}

// TestInlineLeavesOtherStyles checks that style elements for certain readers stay as they
// are, and that one in body is kept without its rules, because it counts as a sibling.
func TestInlineLeavesOtherStyles(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"<style media=print>p{a:1}</style><p>":              "",
		"<!--[if mso]><style>p{a:1}</style><![endif]--><p>": "",
		"<noscript><style>p{a:1}</style></noscript><p>":     "",
		"<style data-embed>p{a:1}</style><p>":               "",
		"<body><style>p{a:1}</style><p>":                    `<body><style></style><p style="a:1">`,
		"<head><style> p{a:1} /* c */ </style></head><p>":   `<head></head><p style="a:1">`,
	} {
		if want == "" {
			want = source
		}
		if got, err := Inline(source); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", source, err, got, want)
		}
	}
}

// TestInlineRefusesComplexMail checks that Inline ends with an error if a bound is exceeded,
// and accepts a mail of 500 KB with 2,000 rules.
func TestInlineRefusesComplexMail(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<b>", 600) + strings.Repeat("<p></p>", 10_000)
	for name, source := range map[string]string{
		"too long":              strings.Repeat("x", maxSource+1),
		"too many rules":        "<style>" + strings.Repeat("a{b:c}", maxRules+1) + "</style><p>",
		"too many steps":        "<style>" + "b:not(b) b b b b b b p{x:y}</style>" + deep,
		"too many matches":      "<style>" + strings.Repeat("p{a:b;c:d}", 50) + "</style>" + deep,
		"too many siblings":     "<style>p:nth-last-of-type(3n+1){a:b}</style>" + strings.Repeat("<p>", 50_000),
		"a result that is long": "<style>p{a:" + strings.Repeat("x", 100) + "}</style>" + deep,
	} {
		if _, err := Inline(source); !errors.Is(err, ErrTooComplex) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var large strings.Builder
	large.WriteString("<head><style>")
	for i := range 2000 {
		fmt.Fprintf(&large, ".c%d td.x%d, .card > tbody .y%d a { color: #%06x; padding: %dpx 4px }\n", i%50, i, i%500, i, i%40)
	}
	large.WriteString("</style></head><body>")
	for i := 0; large.Len() < 500_000; i++ {
		fmt.Fprintf(&large, "<table class='card c%d'><tr><td class='x%d y%d'>{{name}} <a href='https://x.example/%d'>link</a></table>\n", i%50, i%2000, i%500, i)
	}
	if _, err := Inline(large.String()); err != nil {
		t.Error(err)
	}
}
