package docs

import (
	"slices"

	"github.com/mailhelm/mailhelm/rest/docs/article"
	"github.com/mailhelm/mailhelm/rest/docs/reference"
)

// groupNames are the headings of the navigation, in order.
var groupNames = []string{"Get started", "Assistants", "Sending", "Receiving", "Audience", "API", "Operation", reference.Group}

// group is a heading of the navigation with its articles.
type group struct {
	Name     string
	Articles []article.Article
	// Parts are folders below the articles, such as the routes of a domain.
	Parts []part
}

// part is a folder of the navigation.
type part struct {
	Name     string
	Articles []article.Article
}

// groupsOf returns the navigation: the articles that have a group, by group and folder. A
// group that groupNames lacks comes last.
func groupsOf(articles []article.Article) []group {
	var groups []group
	for _, name := range groupNames {
		groups = append(groups, group{Name: name})
	}
	for _, a := range articles {
		if a.Group == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.Name == a.Group })
		if i < 0 {
			groups = append(groups, group{Name: a.Group})
			i = len(groups) - 1
		}
		groups[i].add(a)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.Articles) == 0 && len(g.Parts) == 0 })
}

// add adds an article to the group.
func (g *group) add(a article.Article) {
	if a.Part == "" {
		g.Articles = append(g.Articles, a)
		return
	}
	i := slices.IndexFunc(g.Parts, func(p part) bool { return p.Name == a.Part })
	if i < 0 {
		g.Parts = append(g.Parts, part{Name: a.Part})
		i = len(g.Parts) - 1
	}
	g.Parts[i].Articles = append(g.Parts[i].Articles, a)
}

// neighbours returns the articles before and after a page in the navigation, nil at either
// end and for a page that is not in the navigation.
func neighbours(groups []group, path string) (before, after *article.Article) {
	var order []article.Article
	for _, g := range groups {
		order = append(order, g.Articles...)
		for _, p := range g.Parts {
			order = append(order, p.Articles...)
		}
	}
	i := slices.IndexFunc(order, func(a article.Article) bool { return a.Path == path })
	if i > 0 {
		before = &order[i-1]
	}
	if i >= 0 && i+1 < len(order) {
		after = &order[i+1]
	}
	return before, after
}
