package mailhtml

import (
	"fmt"
	"strings"
	"testing"
)

// page returns a mail without findings, but for those about its rules and body.
func page(rules, body string) string {
	return `<html lang="en"><head><title>T</title><style>` + rules + `</style></head><body>` + body + `</body></html>`
}

// lintCases has, for each code, inputs with a finding and inputs without one.
var lintCases = []struct {
	code     string
	severity Severity
	with     []Input
	without  []Input
}{
	{
		CodeImageWithoutAlt, Warning,
		[]Input{{HTML: page("", `<img src="https://a.example/x.png">`)}},
		[]Input{{HTML: page("", `<img alt=""><img ALT="x"><img {{{x}}}><!-- <img> -->`)}},
	},
	{
		CodeTooLarge, Warning,
		[]Input{{HTML: strings.Repeat("x", 102*1024+1)}},
		[]Input{{HTML: strings.Repeat("x", 102*1024)}},
	},
	{
		CodeLinkWithoutHTTPS, Warning,
		[]Input{
			{HTML: page("", `<a href="http://a.example/">x</a>`)},
			{HTML: page("", `<a href=" HT&#10;TP://a.example/">x</a>`)},
			{HTML: page("", `<a href="//a.example/">x</a>`)},
			{HTML: page("", `<img alt="" src="http://a.example/x.png">`)},
		},
		[]Input{{HTML: page("", `<a href="https://a.example/">http://x</a><a href="mailto:a@b.example">x</a><a href="{{url}}">x</a><a>x</a>`)}},
	},
	{
		CodeLinkWithoutTarget, Error,
		[]Input{{HTML: page("", `<a href="JavaScript:void(0)">x</a>`)}, {HTML: page("", `<a href="java&#9;script:x">x</a>`)}},
		[]Input{{HTML: page("", `<a href="https://a.example/javascript:">x</a>`)}},
	},
	{
		CodeLinkWithoutTarget, Warning,
		[]Input{{HTML: page("", `<a href="#">x</a>`)}, {HTML: page("", `<a href="">x</a>`)}, {HTML: page("", `<a href="#no">x</a>`)}},
		[]Input{{HTML: page("", `<a href="#top">x</a><a href="#{{x}}">x</a><h1 id=top>x</h1>`)}},
	},
	{
		CodeUnsubscribeMissing, Error,
		[]Input{
			{Unsubscribe: true, HTML: page("", "x")},
			{Unsubscribe: true, HTML: page("", `<!-- {{unsubscribe_url}} --><a hidden href="{{unsubscribe_url}}">x</a>{{! unsubscribe_url }}{{#if unsubscribe_url}}x{{/if}}`)},
			{Unsubscribe: true, HTML: page(".a{display:none}", `<p class=a><a href="{{unsubscribe_url}}">x</a></p>`)},
			{Unsubscribe: true, HTML: page("", "{{unsubscribe_urls}}")},
		},
		[]Input{
			{Unsubscribe: true, HTML: page("", "{{{unsubscribe_url}}}")},
			{Unsubscribe: true, HTML: page("", `<a href="{{~ unsubscribe_url ~}}">x</a>`)},
			{Unsubscribe: true, HTML: page("", `<a href="https://a.example/?next={{@root.unsubscribe_url}}">x</a>`)},
			{HTML: page("", "x")},
		},
	},
	{
		CodeUnsubscribeMissing, Warning,
		[]Input{{Unsubscribe: true, HTML: "{{unsubscribe_url}}", Text: "x"}},
		[]Input{{Unsubscribe: true, HTML: "{{unsubscribe_url}}"}, {Unsubscribe: true, HTML: "{{unsubscribe_url}}", Text: "{{unsubscribe_url}}"}},
	},
	{
		CodeMostlyImages, Warning,
		[]Input{
			{HTML: page("", "<img alt=x><p>Some text"+strings.Repeat("&nbsp; ", 20))},
			{HTML: page("", "<img alt=x width=600><div hidden>"+strings.Repeat("text ", 100)+"</div>")},
		},
		[]Input{
			{HTML: page("", "<img alt=x>"+strings.Repeat("<p>text", 100))},
			{HTML: page("", "<img alt=x width=120><img alt=x height=1>")},
			{HTML: page("", "<img alt=x>{{{body}}}")},
			{HTML: page("", "x")},
		},
	},
	{
		CodeLowContrast, Warning,
		[]Input{
			{HTML: page("", `<p style="color:#777">x`)},
			{HTML: page("p{color:rgb(200, 200, 200)}", `<p>{{x}}`)},
			{HTML: page("", `<table bgcolor="#000"><tr><td><font color=navy>x</font></table>`)},
			{HTML: page("", `<body bgcolor=white text=silver><p>x`)},
			{HTML: page("a{color:#ff0;background:white}", `<a href="https://a.example/">x</a>`)},
			{HTML: page("", `<h1 style="color:#999">x</h1>`)},
		},
		[]Input{
			{HTML: page("", `<p style="color:#767676">x`)},
			{HTML: page("", `<p style="color:#777;background:#000">x`)},
			{HTML: page("", `<p style="color:#eee;background-image:url(x.png)">x`)},
			{HTML: page("", `<p style="color:{{c}}">x<p style="color:#eee;background:{{c}}">x`)},
			{HTML: page("", `<p style="color:#eee"> &nbsp; <p style="color:#eee"><b hidden>x</b>`)},
			{HTML: page("", `<h1 style="color:#888">x</h1><p style="color:#888;font-size:19px;font-weight:700">x`)},
			{HTML: page("", `<table bgcolor=black><tr><td><a href="https://a.example/">x</a></table>`)},
			{HTML: page(".a{color:#eee}", `<p class="{{x}}">x`)},
			{HTML: page("", `<td {{#if x}}bgcolor="#000"{{/if}}><font color="#eee">x</font>`)},
		},
	},
	{
		CodeUnknownVariable, Warning,
		[]Input{{HTML: page("", "{{frist_name}}"), Known: []string{"first_name"}, Variables: []string{"frist_name"}}, {Known: []string{}, Variables: []string{"x.y"}}},
		[]Input{
			{Variables: []string{"x"}},
			{Known: []string{"first_name", "order"}, Variables: []string{"first_name", "order.total", "unsubscribe_url", "preferences_url", "email"}},
		},
	},
	{
		CodeInvalidCSS, Warning,
		[]Input{{HTML: page("p{color red}", "<p>x")}, {HTML: page("p{color:red", "<p>x")}, {HTML: page("p>{color:red}", "<p>x")}, {HTML: page(strings.Repeat("p{a:b}", maxRules+1), "<p>x")}},
		[]Input{{HTML: page("p:hover::before{color:red}@media print{p{color red}}.x > [a='b'] ~ i{*zoom:1;--x:{{y}}}", "<p>x")}},
	},
	{
		CodeTitleMissing, Notice,
		[]Input{{HTML: "<p>x"}, {HTML: "<title> </title>"}},
		[]Input{{HTML: "<title>{{x}}</title>"}},
	},
	{
		CodeLanguageMissing, Notice,
		[]Input{{HTML: "<p>x"}, {HTML: `<html lang=""><p>x`}},
		[]Input{{HTML: "<html lang='{{language}}'>"}, {HTML: "<div lang=de>"}},
	},
	{
		CodeLongSubject, Notice,
		[]Input{{Subject: strings.Repeat("ä", 49)}},
		[]Input{{Subject: strings.Repeat("ä", 48) + "{{a_variable_with_a_long_name}}"}},
	},
}

// findings returns the findings with a code and severity.
func findings(in Input, code string, severity Severity) []Finding {
	var found []Finding
	for _, f := range Lint(in) {
		if f.Code == code && f.Severity == severity {
			found = append(found, f)
		}
	}
	return found
}

// TestLint checks that each rule finds what it is for, and nothing else.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, tc := range lintCases {
		for _, in := range tc.with {
			found := findings(in, tc.code, tc.severity)
			if len(found) != 1 || !strings.HasSuffix(found[0].Message, ".") && !strings.HasSuffix(found[0].Message, "?") {
				t.Errorf("%s (%s): %+v in %.300s", tc.code, tc.severity, found, in.HTML+in.Subject)
			}
		}
		for _, in := range tc.without {
			if found := findings(in, tc.code, tc.severity); len(found) != 0 {
				t.Errorf("%s (%s): %+v in %.300s", tc.code, tc.severity, found, in.HTML+in.Subject)
			}
		}
	}
}

// TestLintPlaces checks the order and the places of findings, and the nearest known name.
func TestLintPlaces(t *testing.T) {
	t.Parallel()
	source := "<html lang=en><title>T</title>\n<p>ä {{frist_name}}\n\n\tö<a href='#'>x</a> <img>"
	got := Lint(Input{HTML: source, Known: []string{"last_name", "first_name"}, Variables: []string{"frist_name", "elsewhere"}})
	var places []string
	for _, f := range got {
		places = append(places, fmt.Sprintf("%s %d:%d", f.Code, f.Line, f.Column))
	}
	want := "mostly_images 0:0, unknown_variable 0:0, unknown_variable 2:6, link_without_target 4:3, image_without_alt 4:21"
	if list := strings.Join(places, ", "); list != want {
		t.Errorf("%s, want %s", list, want)
	}
	if message := got[2].Message; !strings.Contains(message, `Did you mean "first_name"?`) {
		t.Error(message)
	}
}

// TestLintIsBounded checks that there are at most 20 findings with the same code.
func TestLintIsBounded(t *testing.T) {
	t.Parallel()
	in := Input{HTML: strings.Repeat("<img>", 1000), Known: []string{}}
	for i := range 1000 {
		in.Variables = append(in.Variables, fmt.Sprintf("v%d", i))
	}
	if images, names := findings(in, CodeImageWithoutAlt, Warning), findings(in, CodeUnknownVariable, Warning); len(images) != 20 || len(names) != 20 {
		t.Errorf("%d findings about images, %d about variables", len(images), len(names))
	}
}

// TestGoldenLint compares the findings about each example mail with its golden file.
func TestGoldenLint(t *testing.T) {
	t.Parallel()
	for name, source := range newsletters(t) {
		in := Input{
			Subject: "The autumn list is here, with new books and one for you", HTML: source, Text: Text(source), Unsubscribe: true,
			Known: []string{"first_name", "company", "count", "books", "delivery"}, Variables: []string{"first_nam", "company"},
		}
		var b strings.Builder
		for _, f := range Lint(in) {
			fmt.Fprintf(&b, "%d:%d %s %s: %s\n", f.Line, f.Column, f.Severity, f.Code, f.Message)
		}
		golden(t, name+".lint.golden", b.String())
	}
}
