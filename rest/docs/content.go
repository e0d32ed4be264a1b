package docs

import (
	"maps"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/grammar"
	"github.com/mailhelm/mailhelm/rest/assistants"
	"github.com/mailhelm/mailhelm/rest/beacon/script"
	"github.com/mailhelm/mailhelm/rest/docs/article"
	"github.com/mailhelm/mailhelm/rest/docs/guides"
	"github.com/mailhelm/mailhelm/rest/docs/reference"
	"github.com/mailhelm/mailhelm/rest/docs/search"
)

// content has everything that a site serves. It is made at the first request, because
// making it takes longer than the rest of a start.
type content struct {
	cfg      Config
	prefix   string
	articles []article.Article
	groups   []group
	// operations maps the name of each operation to the path of its page.
	operations map[string]string
	// pages has every file of the site, by its path below the prefix.
	pages   map[string]rendering
	missing rendering
	// index returns the search index, which it makes at the first call.
	index func() (*search.Index, error)
}

// rendering returns a page. It renders the page at the first call. It fails if a template
// or a source is wrong, which is the same for every request; TestEveryPageIsReached renders
// every page.
type rendering func() (page, error)

// exampleSiteKey is the site key in the guides. It has the form of a key, and is none.
const exampleSiteKey = "pk_live_0123456789abcdefghijklmnopqrstuv"

// newContent collects the articles of a site.
func newContent(cfg Config, prefix string) (*content, error) {
	ref := reference.Config{Catalogue: cfg.Catalogue, Tools: cfg.Tools, BaseURL: cfg.BaseURL, MCPURL: cfg.MCPURL, DocsURL: cfg.DocsURL}
	c := &content{cfg: cfg, prefix: prefix, operations: ref.Paths(), pages: map[string]rendering{}}
	problem, err := reference.Problem(core.CodeValidationFailed, cfg.DocsURL)
	if err != nil {
		return nil, err
	}
	written, err := guides.All(guides.Values{
		BaseURL: cfg.BaseURL, AuthURL: cfg.AuthURL, AppURL: cfg.AppURL, MCPURL: cfg.MCPURL, FetchURL: cfg.FetchURL, DocsURL: cfg.DocsURL,
		Predicates: predicate.Reference, Workflows: grammar.Reference, Assistants: assistants.Markdown(assistants.All(cfg.MCPURL)), Problem: problem,
		Websites: script.Servers(cfg.BaseURL), WebsiteTag: script.Tag(cfg.BaseURL, exampleSiteKey),
	})
	if err != nil {
		return nil, err
	}
	generated, err := reference.All(ref)
	if err != nil {
		return nil, err
	}
	c.articles = append(append(written, generated...), changelog())
	c.groups = groupsOf(c.articles)
	c.index = sync.OnceValues(c.newIndex)
	c.addPages()
	c.addTexts()
	c.pages[indexPath] = sync.OnceValues(func() (page, error) { return c.script("") })
	maps.Copy(c.pages, files())
	return c, nil
}

// addPages adds the page of each article, and the page for unknown addresses.
func (c *content) addPages() {
	for _, a := range c.articles {
		c.pages[a.Path] = sync.OnceValues(func() (page, error) { return c.render(a) })
	}
	c.missing = sync.OnceValues(func() (page, error) {
		return c.render(article.Article{
			Path: missingPath, Title: "Page not found",
			Summary: "This address has no page. Check the spelling, or look for the page below.",
			Body:    "- [Overview](/)\n- [Routes of the API](/api)\n- [Error codes](/api/errors)\n",
		})
	})
}

// missingPath is the path of the article that is shown for unknown addresses. No page has
// it.
const missingPath = "/404"

// address returns the address of a link in an article, as a path on this host. A link to an
// operation without a page stays as it is, which fails the tests.
func (c *content) address(link string) string {
	if name, ok := strings.CutPrefix(link, "op:"); ok {
		if path := c.operations[name]; path != "" {
			return c.prefix + path
		}
		return link
	}
	if strings.HasPrefix(link, "/") {
		return c.prefix + link
	}
	return link
}
