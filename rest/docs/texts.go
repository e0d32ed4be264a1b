package docs

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/rest/docs/article"
)

// RootFiles are the paths at which assistants look for the documentation of a host
// (https://llmstxt.org).
var RootFiles = []string{"/llms.txt", "/llms-full.txt"}

const plainText = "text/plain; charset=utf-8"

// twinPath returns the path of the Markdown form of an article.
func twinPath(a article.Article) string {
	if a.Path == "" {
		return "/index.md"
	}
	return a.Path + ".md"
}

// addTexts adds the Markdown form of each article, and the two files in which assistants
// look for the documentation of a site (https://llmstxt.org).
func (c *content) addTexts() {
	for _, a := range c.articles {
		c.pages[twinPath(a)] = sync.OnceValues(func() (page, error) {
			return newPage("text/markdown; charset=utf-8", []byte(a.Markdown(c.twinAddress))), nil
		})
	}
	c.pages["/llms.txt"] = sync.OnceValues(func() (page, error) { return newPage(plainText, []byte(c.list())), nil })
	c.pages["/llms-full.txt"] = sync.OnceValues(func() (page, error) { return newPage(plainText, []byte(c.whole())), nil })
}

// twinAddress returns the address of a link in a Markdown form: the whole address of the
// Markdown form of the linked page.
func (c *content) twinAddress(link string) string {
	target, fragment, _ := strings.Cut(strings.TrimPrefix(c.address(link), c.prefix), "#")
	if strings.Contains(target, ":") {
		return link
	}
	if target = strings.TrimSuffix(target, "/"); path.Ext(target) == "" {
		target = twinPath(article.Article{Path: target})
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	return c.cfg.DocsURL + target + fragment
}

// list returns the content of llms.txt: each page with its address and summary.
func (c *content) list() string {
	var b strings.Builder
	home := c.articles[0]
	fmt.Fprintf(&b, "# %s\n\n> %s\n", home.Title, home.Summary)
	for _, g := range c.groups {
		fmt.Fprintf(&b, "\n## %s\n\n", g.Name)
		c.listArticles(&b, g.Articles)
		for _, p := range g.Parts {
			c.listArticles(&b, p.Articles)
		}
	}
	return b.String()
}

// listArticles writes a line for each article.
func (c *content) listArticles(b *strings.Builder, articles []article.Article) {
	for _, a := range articles {
		fmt.Fprintf(b, "- [%s](%s): %s\n", a.Title, c.twinAddress(a.Path+"/"), article.Rewrite(a.Summary, c.twinAddress))
	}
}

// whole returns the content of llms-full.txt: the Markdown form of every article.
func (c *content) whole() string {
	texts := make([]string, 0, len(c.articles))
	for _, a := range c.articles {
		texts = append(texts, a.Markdown(c.twinAddress))
	}
	return strings.Join(texts, "\n---\n\n")
}

// files returns the stylesheet, the script and the drawings of the pages.
var files = sync.OnceValue(func() map[string]rendering {
	served := map[string]rendering{}
	entries, err := fs.ReadDir(embedded, "pages")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, entry := range entries {
		name := entry.Name()
		if path.Ext(name) == ".html" {
			continue
		}
		served["/"+name] = sync.OnceValues(func() (page, error) {
			body, err := embedded.ReadFile("pages/" + name)
			if path.Ext(name) == ".css" {
				body = append(body, diagram.Stylesheet...)
			}
			return newPage(mediaTypes[path.Ext(name)], body), err
		})
	}
	return served
})

// mediaTypes are the media types of the files in folder pages, by the end of their names.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}
