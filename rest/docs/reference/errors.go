package reference

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest/docs/article"
)

// Errors returns the page that lists all error codes.
func Errors() article.Article {
	t := newTable("Code", "Status", "Meaning", "Retry")
	for _, info := range core.Codes() {
		retry := "no"
		if info.Retryable {
			retry = "yes"
		}
		t.row(errorLink(info.Code), fmt.Sprint(info.Status), article.Escape(info.Meaning), retry)
	}
	return article.Article{
		Path: "/api/errors", Title: "Error codes", Group: Group,
		Summary: "Every refusal is a problem document (RFC 7807) with a stable `code`. Branch on the code; `detail` says what was wrong this time and `next_step` what to do now.",
		Body: "The column Retry marks the codes after which a retry can succeed. Wait for `Retry-After` if the answer has it; otherwise back off exponentially. " +
			"Stop after three or four attempts. Repeat a write with the same `Idempotency-Key`, so that it is carried out once. " +
			"[Handle errors](/guides/errors) explains the members of the document.\n\n" + t.String(),
	}
}

// Error returns the page about an error code, with an example problem document.
func Error(c Config, info core.CodeInfo) (article.Article, error) {
	text, err := Problem(info.Code, c.DocsURL)
	if err != nil {
		return article.Article{}, err
	}
	retry := "Do not retry the call unchanged."
	if info.Retryable {
		retry = "A later retry can succeed."
	}
	return article.Article{
		Path: "/api/errors/" + string(info.Code), Title: info.Title, Label: string(info.Code), Parent: "/api/errors",
		Summary: article.Escape(info.Meaning),
		Body: fmt.Sprintf("Code `%s`, status %d %s. %s\n\n## What to do\n\n%s\n",
			info.Code, info.Status, http.StatusText(info.Status), retry, article.Escape(info.Remedy)),
		Examples: []article.Example{{Title: "Example", Texts: []article.Code{{Language: "json", Text: text}}}},
	}, nil
}

// errorLink returns a link to the page of an error code.
func errorLink(code core.Code) string {
	return fmt.Sprintf("[`%s`](/api/errors/%s)", code, code)
}
