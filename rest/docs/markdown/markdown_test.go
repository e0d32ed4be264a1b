package markdown_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mailhelm/mailhelm/rest/docs/markdown"
)

const source = "Text with [a link](/a).\n\n## First\n\n| Code | Meaning |\n|---|---|\n| `bad_name` | wrong \\| bad |\n| [`other`](/b) | x |\n| plain | y |\n\n" +
	"### Second {#own}\n\n| Code | Meaning |\n|---|---|\n| `bad_name` | again |\n\n```json\n<a>\n```\n\n![What it shows](figure:one)\n"

func render(t *testing.T, text string) (markdown.Document, error) {
	t.Helper()
	r := markdown.New(fstest.MapFS{"one.svg": {Data: []byte("<svg><g/></svg>")}})
	return r.Render(text, func(link string) string { return "/docs" + link })
}

func TestRender(t *testing.T) {
	t.Parallel()
	d, err := render(t, source)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<a href="/docs/a">a link</a>`, `<tr id="bad_name">`, `<tr id="other">`, `<tr id="own.bad_name">`, `<td data-label="Meaning">wrong | bad</td>`,
		`<th scope="col">Code</th>`, `<h3 id="own">Second</h3>`, "<pre tabindex=\"0\" data-language=\"json\"><code>&lt;a&gt;</code></pre>",
		`<svg role="img" aria-label="What it shows"><g/></svg>`,
	} {
		if !strings.Contains(string(d.HTML), want) {
			t.Errorf("the HTML lacks %s:\n%s", want, d.HTML)
		}
	}
	if len(d.Headings) != 2 || d.Headings[1] != (markdown.Heading{ID: "own", Text: "Second", Level: 3}) {
		t.Errorf("headings = %+v", d.Headings)
	}
	if len(d.Sections) != 3 || d.Sections[0].Body != "Text with a link." || !strings.Contains(d.Sections[2].Body, "<a>") {
		t.Fatalf("sections = %+v", d.Sections)
	}
	if rows := d.Sections[1].Rows; len(rows) != 2 || rows[0] != (markdown.Row{ID: "bad_name", Key: "bad_name", Text: "wrong | bad"}) {
		t.Errorf("rows = %+v", rows)
	}
}

func TestRefusedSources(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"<script>x</script>", "a <b>c</b>", "![x](figure:none)", "![x](/other.png)"} {
		if d, err := render(t, text); err == nil {
			t.Errorf("%q is rendered as %q", text, d.HTML)
		}
	}
}
