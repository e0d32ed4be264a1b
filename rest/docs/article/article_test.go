package article_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/rest/docs/article"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	a := article.Article{
		Title: "Title", Summary: "See [x](/x).", Minutes: 5,
		Body:     "Text [op](op:contacts_list), [out](https://example.com).\n\n## Head {#own}\n\n```text\n[kept](/x)\n```\n\n![A drawing](figure:one)\n",
		Examples: []article.Example{{Title: "Request", Texts: []article.Code{{Label: "Go", Language: "go", Text: "x()"}, {Language: "json", Text: "{}"}}}},
	}
	want := "# Title\n\n> See [x](<</x>>).\n\nTime: about 5 minutes.\n\nText [op](<<op:contacts_list>>), [out](https://example.com).\n\n## Head\n\n" +
		"```text\n[kept](/x)\n```\n\nFigure: A drawing\n\n## Request\n\nGo:\n\n```go\nx()\n```\n\n```json\n{}\n```\n"
	if got := a.Markdown(func(link string) string { return "<<" + link + ">>" }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a *b* `c*` <d> [e](f)": "a \\*b\\* `c*` \\<d\\> \\[e\\](f)",
		"snake_case & more":     "snake\\_case \\& more",
	} {
		if got := article.Escape(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := article.Cell("a | b\n`c | d`"); got != "a \\| b `c \\| d`" {
		t.Errorf("cell = %q", got)
	}
}
