package docs

import (
	_ "embed" // for the changelog
	"strings"

	"github.com/mailhelm/mailhelm/rest/docs/article"
	"github.com/mailhelm/mailhelm/rest/docs/reference"
)

// changes is a copy of CHANGELOG.md in the root folder of the repository, which this
// package cannot embed. TestGoldenChangelog copies it.
//
//go:embed changelog.md
var changes string

// changelog returns the page with the changes of each version.
func changelog() article.Article {
	_, body, _ := strings.Cut(changes, "\n## ")
	return article.Article{
		Path: "/changelog", Title: "Changelog", Group: reference.Group,
		Summary: "All notable changes for people who use or run Mailhelm, by version. Changes that need an action begin with *Action*.",
		Body:    "## " + strings.NewReplacer("## [", "## ", "]\n", "\n", "] - ", ", ").Replace(body),
	}
}
