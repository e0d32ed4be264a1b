package mailhtml

import (
	"strings"
	"testing"
)

func TestUsesLink(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		`<a href="{{unsubscribe_url}}">x</a>`:            true,
		`<a href="{{preferences_url}}?x=1">x</a>`:        true,
		`<p>{{ unsubscribe_url }}</p>`:                   true,
		`{{#if unsubscribe_url}}x{{/if}}`:                false,
		`<!-- {{unsubscribe_url}} -->`:                   false,
		`<style>a{b:{{unsubscribe_url}}}</style>`:        false,
		`<img src="{{unsubscribe_url}}">`:                false,
		`{{unsubscribe_url_2}}{{!unsubscribe_url}}`:      false,
		`\{{unsubscribe_url}}`:                           false,
		`<a hidden href="{{unsubscribe_url}}">x</a>`:     true,
		`{{#if x}}<a href="{{unsubscribe_url}}">{{/if}}`: true,
	} {
		if got := UsesLink(source, "unsubscribe_url", "preferences_url"); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	const source = "<title>T</title><style>x</style><p hidden>Main  St<br>A &amp; B{{name}}<!-- c --></p> \n end"
	if got := Words(source); got != "Main St A & B end" {
		t.Errorf("%q", got)
	}
}

func TestAppendToBody(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"<p>x":                   "<p>x+",
		"<body>x</BODY ></html>": "<body>x+</BODY ></html>",
		"<html>x</html>\n":       "<html>x+</html>\n",
		"<!-- </body> --><p>x":   "<!-- </body> --><p>x+",
		"{{#if x}}a</body>{{else}}b</body>{{/if}}": "{{#if x}}a</body>{{else}}b</body>{{/if}}+",
		"<b>{{#if x}}y{{/if}}</body></body>z":      "<b>{{#if x}}y{{/if}}</body>+</body>z",
	} {
		if got := AppendToBody(source, "+"); got != want {
			t.Errorf("%s becomes %s, want %s", source, got, want)
		}
	}
}

func TestReplaceSources(t *testing.T) {
	t.Parallel()
	replace := func(src string) (string, bool) { return "https://x/?a&b=" + src, strings.HasPrefix(src, "a") }
	for source, want := range map[string]string{
		`<img src="a.png"><img SRC = 'a&amp;b'>`:           `<img src="https://x/?a&amp;b=a.png"><img SRC = 'https://x/?a&amp;b=a&amp;b'>`,
		`<img src=a alt=a>`:                                `<img src="https://x/?a&amp;b=a" alt=a>`,
		`<img src="b"><img src><img data-src="a">`:         `<img src="b"><img src><img data-src="a">`,
		`<img src="a{{x}}"><script>"<img src=a>"</script>`: `<img src="a{{x}}"><script>"<img src=a>"</script>`,
		`{{#if x}}<img src=" a ">{{/if}}`:                  `{{#if x}}<img src="https://x/?a&amp;b=a">{{/if}}`,
	} {
		if got := ReplaceSources(source, replace); got != want {
			t.Errorf("%s becomes %s, want %s", source, got, want)
		}
	}
}
