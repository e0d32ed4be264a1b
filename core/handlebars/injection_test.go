package handlebars_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// corpus has templates with the value x at many places of HTML.
var corpus = []string{
	`<!DOCTYPE html><html><head><title>{{x}}</title><style>p{color:{{x}};background:url({{x}})}</style></head><body bgcolor={{x}}>{{x}}</body></html>`,
	`<p title="{{x}}" class='{{x}}' id={{x}} lang=a{{x}} style="color:{{x}};background:url('{{x}}')">{{x}}</p>`,
	`<a href="{{x}}">a</a><a href='https://a.example/{{x}}?b={{x}}&c={{x}}#{{x}}'>b</a><a href={{x}}>c</a><a href="{{x}}{{x}}">d</a><a href=java{{x}}>e</a>`,
	`<!-- {{x}} --><!--{{x}}--><!-- <p title={{x}} > --><p>{{x}}</p>`,
	`<!--[if mso]><table><tr><td width="{{x}}" height={{x}} ><a href="{{x}}">{{x}}</a></td></tr></table><![endif]--><p>{{x}}</p>`,
	`<!--[if !mso]><!--><img src="{{x}}" alt='{{x}}'><!--<![endif]--><textarea rows={{x}}>{{x}}</textarea>`,
	`<table background="{{x}}"><tr><td{{#if x}} title="{{x}}"{{/if}}>{{#each z}}<b>{{this}}</b>{{/each}}</td></tr></table>`,
	`<form action={{x}}><input value={{x}} {{#if x}}checked{{/if}}><button formaction="{{x}}">{{x}}</button></form>`,
}

// pieces are drawn to make HTML at random. Most combinations are odd or malformed.
var pieces = []string{
	"{{x}}", "{{x}}", "{{x}}", "{{#if x}}", "{{else}}", "{{/if}}", "{{#each z}}", "{{/each}}",
	"<a", "<p", "<style", "<title", "<script", "</", "<", "/", ">", "=", `"`, "'", " ", "\n",
	" href=", " style=", " title=", " onclick=", ` src="`, "https:", "//", "?", "&", "#", ":", "java", "script",
	"<!--", "-->", "--!>", "-", "!", "[if mso]>", "<![endif]", "</style>", "</title>", "</script>", "a", "url(", ";", ")",
}

// hostile draws a value that tries to leave its place.
func hostile(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		`"`, "'", "`", "<", ">", "=", " ", "\n", "\t", "/", "\\", "-", "--", "-->", "!", "&", "#", ";", ":", "(", ")", "{{x}}", "é", "\x00",
		"<b>", "</title>", "</style>", "</textarea>", "</script>", "<!--", "]>", " onload=", "javascript:", "java", "script", "alert(1)", "&#58;", "data:", "colon;", "url(",
	}), 0, 5).Draw(t, "hostile")
	return strings.Join(parts, "")
}

// tagsOf returns the tags of HTML with the names of their attributes, and for each link
// whether it runs a script.
func tagsOf(text string) []string {
	var tags []string
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Type == html.TextToken {
			continue
		}
		tag := token.Type.String()
		if token.Type != html.CommentToken && token.Type != html.DoctypeToken {
			tag += " " + token.Data
		}
		for _, a := range token.Attr {
			tag += " " + a.Key
			if runsScript(a.Key, a.Val) {
				tag += "!"
			}
		}
		tags = append(tags, tag)
	}
	return tags
}

func runsScript(attribute, value string) bool {
	value = strings.ToLower(strings.TrimLeft(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(value), "\x00\x01\x1f "))
	return slices.Contains([]string{"href", "src", "action", "formaction", "background"}, attribute) &&
		(strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:"))
}

// inOutlook returns HTML as Outlook reads it, with the content of conditional comments.
func inOutlook(text string) string {
	return strings.NewReplacer("<!--<![endif]-->", "", "<!--[if mso]>", "", "<![endif]-->", "").Replace(text)
}

// elementsOf returns the elements of the parsed document with the names of their
// attributes.
func elementsOf(t *testing.T, text string) []string {
	t.Helper()
	document, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for n := range document.Descendants() {
		if n.Type == html.ElementNode {
			name := n.Data
			for _, a := range n.Attr {
				name += " " + a.Key
			}
			found = append(found, name)
		}
	}
	return found
}

func dataOf(x string) map[string]any { return map[string]any{"x": x, "z": []any{x, x}} }

// TestValuesAddNothing checks that hostile values change neither the elements nor the names
// of attributes of the corpus, nor the schemes of its links.
func TestValuesAddNothing(t *testing.T) {
	t.Parallel()
	for _, source := range corpus {
		template := parse(t, source, handlebars.HTML)
		render := func(x string) string {
			out, err := template.Execute(nil, dataOf(x), handlebars.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		harmless := render("a")
		elements, tags, outlook := elementsOf(t, harmless), tagsOf(harmless), tagsOf(inOutlook(harmless))
		rapid.Check(t, func(rt *rapid.T) {
			x := "a" + hostile(rt)
			if rapid.Bool().Draw(rt, "bare") {
				x = x[1:]
			}
			if x == "" {
				return // {{#if x}} renders its other arm
			}
			out := render(x)
			if diff := cmp.Diff(tags, tagsOf(out)) + cmp.Diff(outlook, tagsOf(inOutlook(out))) + cmp.Diff(elements, elementsOf(t, out)); diff != "" {
				rt.Fatalf("%q changes %s\n%s", x, out, diff)
			}
		})
	}
}

// TestValuesAddNothingToOddHTML checks the same for random HTML: either it is refused, or
// values change no tag.
func TestValuesAddNothingToOddHTML(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(t, "pieces"), "")
		template, err := handlebars.Parse(source, handlebars.HTML)
		if err != nil {
			return
		}
		render := func(x string) string {
			out, err := template.Execute(nil, dataOf(x), handlebars.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		x := hostile(t)
		harmless := "a"
		if x == "" {
			if strings.Contains(source, "{{#") {
				return
			}
			harmless = "b"
		}
		want, got := render(harmless), render(x)
		if diff := cmp.Diff(tagsOf(want), tagsOf(got)); diff != "" {
			t.Fatalf("%q with %q:\n%s\n%s\n%s", source, x, want, got, diff)
		}
	})
}
