package handlebars_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/handlebars"
)

// TestReplaceAssets checks the replaced source, and that it prints the same as the template
// with assets.
func TestReplaceAssets(t *testing.T) {
	t.Parallel()
	address := func(path string) (string, bool) {
		return "https://cdn.example/a&b/" + path, !strings.HasPrefix(path, "un")
	}
	for source, want := range map[string]string{
		`<img src="{{asset "a.png"}}">{{#if x}}{{asset 'b.png'}}{{else}}{{{asset "c"}}}{{/if}}`: `<img src="https://cdn.example/a&amp;b/a.png">{{#if x}}https://cdn.example/a&amp;b/b.png{{else}}https://cdn.example/a&amp;b/c{{/if}}`,
		"<p>a \n{{~asset \"a\"~}}\n b {{asset \"unknown\"}}{{name}}</p>":                        "<p>a \n{{~!}}https://cdn.example/a&amp;b/a{{!~}}\n b {{asset \"unknown\"}}{{name}}</p>",
		`\{{asset "a"}} {{!-- {{asset "a"}} --}}{{#each y}}{{asset "a"}}{{/each}}`:              `\{{asset "a"}} {{!-- {{asset "a"}} --}}{{#each y}}https://cdn.example/a&amp;b/a{{/each}}`,
	} {
		got, err := handlebars.ReplaceAssets(source, handlebars.HTML, address)
		if err != nil || got != want {
			t.Errorf("%s becomes\n%s, %v, want\n%s", source, got, err, want)
		}
		data := map[string]any{"y": []any{1.0, 2.0}, "name": "Ada"}
		if with, plain := printed(t, source, address, data), printed(t, got, nil, data); with != plain {
			t.Errorf("%s prints\n%s, replaced\n%s", source, with, plain)
		}
	}
	if _, err := handlebars.ReplaceAssets("{{#if x}}", handlebars.HTML, address); err == nil {
		t.Error("a faulty template")
	}
	if got, err := handlebars.ReplaceAssets(`{{asset "a"}}`, handlebars.Text, address); got != "https://cdn.example/a&b/a" || err != nil {
		t.Errorf("in text: %s, %v", got, err)
	}
}

// TestAssetTag checks that a tag names any path that images can have.
func TestAssetTag(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"static/a.png", `a "b" 'c'.png`, `"`, `""`, "a}}b.png", "{{a.png", "<b>&.png", "é.svg"} {
		for _, mode := range []handlebars.Mode{handlebars.HTML, handlebars.Text} {
			tag := handlebars.AssetTag(path)
			parsed, err := handlebars.Parse(tag, mode)
			if err != nil {
				t.Errorf("%s: %v", tag, err)
				continue
			}
			if got := parsed.Assets(); len(got) != 1 || got[0] != path {
				t.Errorf("%s names %q", tag, got)
			}
		}
	}
}

// printed returns what a template prints, with its assets if address is not nil.
func printed(t *testing.T, source string, address func(string) (string, bool), data map[string]any) string {
	t.Helper()
	parsed, err := handlebars.Parse(source, handlebars.HTML)
	if err != nil {
		t.Fatal(err)
	}
	if address != nil {
		known := map[string]string{}
		for _, path := range parsed.Assets() {
			if found, ok := address(path); ok {
				known[path] = found
			}
		}
		parsed = parsed.WithAssets(known)
	}
	out, err := parsed.Execute(nil, data, handlebars.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
