package reference

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest/docs/article"
)

// Scopes returns the page about all scopes, with the operations that need each.
func Scopes(c Config) article.Article {
	t := newTable("Scope", "What it allows", "Operations")
	operations := c.operations()
	for _, info := range core.ScopeCatalogue() {
		var names []string
		for _, o := range operations {
			if slices.Contains(o.Scopes, info.Scope) {
				names = append(names, link(o.Name))
			}
		}
		allows := article.Escape(info.Description)
		if info.Personal {
			allows += " *Personal data.*"
		}
		used := strings.Join(names, ", ")
		if used == "" {
			used = "no operation yet"
		}
		t.row("`"+string(info.Scope)+"`", allows, used)
	}
	return article.Article{
		Path: "/scopes", Title: "Scopes", Group: Group,
		Summary: "The permissions of credentials. A credential has a fixed set of scopes, and an operation names those it needs. `GET /v1/_scopes` returns the scopes of a credential.",
		Body:    t.String(),
	}
}
