package mailhtml_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/mailhtml"
)

// checkTemplates checks that the results of Text and Inline for a valid template are valid
// templates.
func checkTemplates(t *testing.T, source string) {
	t.Helper()
	if _, err := handlebars.Parse(source, handlebars.HTML); err != nil {
		return
	}
	if text := mailhtml.Text(source); text != "" {
		if _, err := handlebars.Parse(text, handlebars.Text); err != nil {
			t.Errorf("the plain text: %v\n%q\n%q", err, source, text)
		}
	}
	inlined, err := mailhtml.Inline(source)
	if err != nil {
		return
	}
	if _, err := handlebars.Parse(inlined, handlebars.HTML); err != nil {
		t.Errorf("with rules applied: %v\n%q\n%q", err, source, inlined)
	}
}

// TestResultsAreTemplates checks the example mails, which are valid templates themselves.
func TestResultsAreTemplates(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d example mails: %v", len(files), err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := handlebars.Parse(string(source), handlebars.HTML); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		checkTemplates(t, string(source))
	}
}

// FuzzTemplates checks that valid templates stay valid.
func FuzzTemplates(f *testing.F) {
	for _, source := range []string{
		`<p class="a {{b}}">x{{#if y}}<b>{{else}}<i>{{/if}}z</p>`,
		`<div hidden>{{#each a}}{{b}}{{else}}c{{/each}}</div>{{#unless x}}<!-- {{y}} -->{{/unless}}`,
		`<style>p{color:{{c}};margin:0}{{#if d}}i{a:b}{{/if}}</style><p style="a:b"><a href="https://a.example/?{{q}}">&#123;&#123;x}}</a>`,
		`<a {{#if a}}href="x">{{else}}href="y">{{/if}}z</a><img alt="{{#if b}}">{{/if}}<A{{#if A}}>{{else}}>{{/if}}`,
		`\{{{}}`,
		`<script>1</script>{<b>{{x}}</b>}\{{y}} {{!-- z --}}`,
	} {
		f.Add(source)
	}
	f.Fuzz(checkTemplates)
}
