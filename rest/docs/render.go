package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"slices"
	"sync"

	"github.com/mailhelm/mailhelm/rest/docs/article"
	"github.com/mailhelm/mailhelm/rest/docs/guides"
	"github.com/mailhelm/mailhelm/rest/docs/markdown"
)

//go:embed pages
var embedded embed.FS

// view is the data of the template of a page.
type view struct {
	article.Article
	markdown.Document

	// Lead is the summary as HTML. Prefix is the path of the documentation.
	Lead            template.HTML
	Prefix          string
	Groups          []group
	Crumbs          []article.Article
	Previous, After *article.Article
	// Twin is the path of the Markdown form, or "".
	Twin string
	// Found has the query and the results on the page of a search; nil on other pages.
	Found           *found
	BaseURL, Commit string
}

// InPart reports whether the page is in a folder of the navigation.
func (v view) InPart(g group, p part) bool { return v.Group == g.Name && v.Part == p.Name }

// Contents returns the headings of level 2, for the list of contents.
func (v view) Contents() []markdown.Heading {
	return slices.DeleteFunc(slices.Clone(v.Headings), func(h markdown.Heading) bool { return h.Level != 2 })
}

// renderer returns the renderer of the articles, which all sites of a process share.
var renderer = sync.OnceValue(func() *markdown.Renderer { return markdown.New(guides.Figures()) })

// render returns the page of an article.
func (c *content) render(a article.Article) (page, error) { return c.renderWith(a, nil) }

// renderWith returns the page of an article, with the results of a search or nil.
func (c *content) renderWith(a article.Article, results *found) (page, error) {
	v := view{Article: a, Found: results, Prefix: c.prefix, Groups: c.groups, BaseURL: c.cfg.BaseURL, Commit: c.cfg.Commit, Crumbs: c.crumbs(a)}
	if a.Path != missingPath && results == nil {
		v.Twin = twinPath(a)
		v.Previous, v.After = neighbours(c.groups, a.Path)
	}
	var err error
	if v.Document, err = renderer().Render(a.Body, c.address); err != nil {
		return page{}, fmt.Errorf("page %s: %w", a.Path, err)
	}
	if v.Lead, err = renderer().Inline(a.Summary, c.address); err != nil {
		return page{}, fmt.Errorf("page %s: %w", a.Path, err)
	}
	frame, err := frame()
	if err != nil {
		return page{}, err
	}
	var b bytes.Buffer
	if err := frame.Execute(&b, v); err != nil {
		return page{}, fmt.Errorf("page %s: %w", a.Path, err)
	}
	return newPage("text/html; charset=utf-8", b.Bytes()), nil
}

// crumbs returns the pages above an article.
func (c *content) crumbs(a article.Article) []article.Article {
	var above []article.Article
	for parent := a.Parent; parent != ""; {
		i := slices.IndexFunc(c.articles, func(one article.Article) bool { return one.Path == parent })
		if i < 0 {
			break
		}
		above = append([]article.Article{c.articles[i]}, above...)
		parent = c.articles[i].Parent
	}
	return above
}

// frame returns the template of all pages. All sites in a process share it, because
// html/template prepares the escaping of a template when it is first executed, which takes
// most of the time.
var frame = sync.OnceValues(func() (*template.Template, error) {
	return template.New("frame.html").ParseFS(embedded, "pages/*.html")
})
