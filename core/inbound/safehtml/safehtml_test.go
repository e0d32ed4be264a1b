package safehtml_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
	"github.com/mailhelm/mailhelm/core/inbound/safehtml"
	"golang.org/x/net/html"
)

func TestClean(t *testing.T) {
	t.Parallel()
	const pixel = "data:image/png;base64,iVBORw0KGgo="
	for name, tc := range map[string]struct{ html, want string }{
		"text":         {`a & b <p class="x" id="y">c<b>d</b>`, `a &amp; b <p>c<b>d</b>`},
		"document":     {`<!doctype html><html><head><title>x</title><meta charset=utf-8><base href="/"></head><body bgcolor=red onload=x()>a</body></html>`, `<div bgcolor="red">a</div>`},
		"head is open": {`<head><p>a`, `<p>a`},
		"table":        {`<table width="600" background=x.png><tr><td align=center style="padding: 4px">a</td></tr></table>`, `<table width="600"><tr><td align="center" style="padding:4px">a</td></tr></table>`},
		"link":         {`<a href=" https://a.example/?a=1&amp;b=2 " title="https://bank.example" target=_top>a</a>`, `<a title="https://a.example/?a=1&amp;b=2">a</a>`},
		"script":       {`a<script>alert("<p>")</script>b<SCRIPT/SRC=x></script>c`, `abc`},
		"form":         {`<form action=x><input name=a value=b><button formaction=y>Go</button></form>`, `Go`},
		"image":        {`<img src="` + pixel + `" alt="a" srcset="x 2x"><img src="https://a.example/x.png" alt="b"><img src="data:image/svg+xml;base64,PHN2Zz4=">`, `<img src="` + pixel + `" alt="a"><img alt="b"><img>`},
		"frames":       {`a<iframe src=x srcdoc="<p>">b</iframe>c<object data=x>d</object><embed src=x>e`, `acde`},
		"foreign":      {`a<svg><svg><p>b</p></svg><style>*{}</style></svg>c<math><mtext>d</math>e`, `ace`},
		"never closed": {`a<template><p>b`, `a`},
		"comment":      {`a<!-- <p> --><![CDATA[<p>]]><?php x ?>b`, `a]]&gt;b`},
		"escaped":      {`&lt;script&gt;<p title="&quot;><script>">a`, `&lt;script&gt;<p title="&#34;&gt;&lt;script&gt;">a`},
		"nul":          {"<p title='\x00'>\x00a", "<p title=\"\uFFFD\">\uFFFDa"},
		"upper case":   {`<P STYLE="COLOR:RED" ONCLICK=x>a</P>`, `<p style="color:RED">a</p>`},
		"namespace":    {`<o:p>a</o:p><v:rect xlink:href=x>b</v:rect>`, `ab`},
	} {
		if diff := cmp.Diff(tc.want, safehtml.Clean(tc.html, nil)); diff != "" {
			t.Errorf("%s (want, got):\n%s", name, diff)
		}
	}
}

func TestStyle(t *testing.T) {
	t.Parallel()
	for style, want := range map[string]string{
		"color:#a1B2c3;font-family:'Segoe UI',Arial,sans-serif;line-height:1.5": "color:#a1B2c3;font-family:'Segoe UI',Arial,sans-serif;line-height:1.5",
		"width:calc(100% - 4px)!important;background:rgba(0,0,0,.5)":            "width:calc(100% - 4px)!important;background:rgba(0,0,0,.5)",
		"background:linear-gradient(90deg, red, blue)":                          "background:linear-gradient(90deg, red, blue)",
		"background:url(https://a.example/x.png);color:red":                     "color:red",
		`background:u\72l(//a.example);color:red`:                               "color:red",
		"background:red url/**/(x)":                                             "",
		"background:image-set('x' 1x);background:url":                           "background:url",
		"position:fixed;z-index:9;top:0;behavior:url(x);-moz-binding:url(x)":    "",
		"color:red;}p{color:blue;@import 'x';color:green":                       "color:red;color:green",
		"width:expression(alert(1));width:(1px);height:1px)":                    "",
		`font-family:"a;color:red;background:url(x)`:                            "color:red",
		"color:/*;*/red;content:'x';color":                                      "",
		"background:url\u2028(x)":                                               "",
	} {
		got := safehtml.Clean(`<p style="`+strings.ReplaceAll(style, `"`, "&quot;")+`">`, nil)
		full := "<p>"
		if want != "" {
			full = `<p style="` + html.EscapeString(want) + `">`
		}
		if diff := cmp.Diff(full, got); diff != "" {
			t.Errorf("%s (want, got):\n%s", style, diff)
		}
	}
}

// part returns the content of a part of a message: its Content-ID, behind the beginning of a GIF
// if it begins with g.
func part(id string) []byte {
	if strings.HasPrefix(id, "g") {
		return []byte("GIF89a" + id)
	}
	return []byte(id)
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	const large = safehtml.MaxEmbedded/2 + 1
	parts := map[string]string{
		"logo@acme": "GIF89a1", "a b": "\x89PNG\r\n\x1a\n2", "photo": "\xff\xd8\xff3", "web": "RIFF....WEBPVP8 4", "100%": "GIF89a5",
		"svg": `<svg onload="x()">`, "html": "<script>x()</script>", "bmp": "BM", "large": "GIF89a" + strings.Repeat("x", large-6), "empty": "",
	}
	contents := map[string][]byte{}
	for id, content := range parts {
		contents[id] = []byte(content)
	}
	embedded := func(id string) []byte { return contents[id] }
	for source, want := range map[string]string{
		`<img src="cid:logo@acme" alt="Logo">`:          `<img src="data:image/gif;base64,R0lGODlhMQ==" alt="Logo">`,
		`<img src=" CID:a%20b ">`:                       `<img src="data:image/png;base64,iVBORw0KGgoy">`,
		`<img src="cid:<photo>">`:                       `<img src="data:image/jpeg;base64,/9j/Mw==">`,
		`<img src="cid:web">`:                           `<img src="data:image/webp;base64,UklGRi4uLi5XRUJQVlA4IDQ=">`,
		`<img src="cid:100%">`:                          `<img src="data:image/gif;base64,R0lGODlhNQ==">`,
		`<img src="cid:missing" alt="b">`:               `<img alt="b">`,
		`<img src="cid:" alt="b">`:                      `<img alt="b">`,
		`<img src="cid:svg" alt="c"><img src=cid:html>`: `<img alt="c"><img>`,
		`<img src="cid:bmp"><img src=cid:empty>`:        `<img><img>`,
		`<a href="cid:logo@acme">d</a>`:                 `<a title="cid:logo@acme">d</a>`,
		`<p style="background:url(cid:logo@acme)">`:     `<p>`,
	} {
		got := safehtml.Clean(source, embedded)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (want, got):\n%s", source, diff)
		}
	}
	got := safehtml.Clean(strings.Repeat(`<img src="cid:large" alt="x"><img src="cid:logo@acme">`, 20_000), embedded)
	if first := strings.Count(got, "data:image/gif;base64,R0lGODlhe"); first != 1 || strings.Count(got, `alt="x"`) != 20_000 {
		t.Errorf("%d large images", first)
	}
	if len(got) > 2*safehtml.MaxEmbedded+20_000*64 || len(safehtml.Clean(`<img src="cid:large">`, nil)) != len("<img>") {
		t.Errorf("%d bytes of HTML", len(got))
	}
}

func TestShows(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"": false, " \n&nbsp;&#8203;&zwnj;<p>\t</p><table><tr><td></td></tr></table>": false, "<script>x()</script><style>p{}</style>": false,
		`<a href="https://a.example"><img src="https://a.example/x.png"></a>`: false, `<img src=x alt=" ">`: false, "<hr>": false,
		"<p>a": true, `<img src=x alt="Sale">`: true, `<img src="data:image/png;base64,AAAA">`: true, "<table><tr><td>&lt;": true,
	} {
		if got := safehtml.Shows(safehtml.Clean(source, nil)); got != want {
			t.Errorf("%q: %t", source, got)
		}
	}
}

// These lists are independent of those of the package, so that a mistake there is noticed.
var (
	dangerous           = []string{"script", "style", "iframe", "object", "embed", "svg", "math", "template", "noscript", "form", "input", "button", "base", "meta", "link", "textarea", "select", "title", "frame", "frameset", "video", "audio", "source", "portal"}
	dangerousAttributes = []string{"href", "srcset", "srcdoc", "action", "formaction", "background", "poster", "data", "id", "name", "class", "ping", "target", "xlink:href", "http-equiv"}
)

// checkSafe parses a result as a browser does and checks each element. The result is then
// written and parsed again, as code does that assigns innerHTML.
func checkSafe(t *testing.T, source, cleaned string) {
	t.Helper()
	for range 2 {
		root, err := html.Parse(strings.NewReader(cleaned))
		if err != nil {
			return // too deep for the parser; browsers flatten such trees
		}
		for n := range root.Descendants() {
			if n.Type == html.CommentNode || n.Namespace != "" || slices.Contains(dangerous, n.Data) && n.Type == html.ElementNode {
				t.Fatalf("%q: a node %q in %q", source, n.Data, cleaned)
			}
			for _, a := range n.Attr {
				value := strings.ToLower(a.Val)
				if strings.HasPrefix(a.Key, "on") || slices.Contains(dangerousAttributes, a.Key) ||
					a.Key == "src" && !strings.HasPrefix(value, "data:image/") || a.Key == "style" && strings.ContainsAny(value, `\@{}<`) {
					t.Fatalf("%q: an attribute %s=%q in %q", source, a.Key, a.Val, cleaned)
				}
			}
		}
		var b strings.Builder
		if err := html.Render(&b, root); err != nil {
			t.Fatal(err)
		}
		cleaned = b.String()
	}
}

// TestHostile cleans the HTML of the hostile messages.
func TestHostile(t *testing.T) {
	t.Parallel()
	cleaned := 0
	for _, s := range inboundtest.Hostile() {
		if s.Message.Size() > 1<<20 {
			continue // about limits of size, which are those of the parser
		}
		content, err := parse.Parse(s.Message, s.Message.Size(), parse.Limits{})
		if err != nil || content.HTMLBody == "" {
			continue
		}
		cleaned++
		checkSafe(t, s.Name, safehtml.Clean(content.HTMLBody, part))
	}
	if cleaned < 5 {
		t.Errorf("only %d samples have HTML", cleaned)
	}
}

func FuzzClean(f *testing.F) {
	f.Add(`<img src="cid:g1" alt="a"><img src='cid:"><script>'><img src="cid:g%22%3e%3cscript%3e">`)
	for _, v := range inboundtest.ActiveHTML("http://127.0.0.1/hit") {
		f.Add(v.HTML)
	}
	for _, s := range inboundtest.Hostile() {
		f.Add(s.Want.HTML)
	}
	f.Fuzz(func(t *testing.T, source string) {
		cleaned := safehtml.Clean(source, part)
		if len(cleaned) > 8*len(source)+16+2*safehtml.MaxEmbedded {
			t.Fatalf("%d bytes from %d", len(cleaned), len(source))
		}
		checkSafe(t, source, cleaned)
	})
}

func BenchmarkClean(b *testing.B) {
	source := strings.Repeat(`<table width="600"><tr><td style="padding:4px;color:#333"><a href="https://a.example/x">Read more</a> &amp; so on</td></tr></table>`, 2000)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		safehtml.Clean(source, nil)
	}
}
