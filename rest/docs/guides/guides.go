package guides

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/mailhelm/mailhelm/rest/beacon/script"
	"github.com/mailhelm/mailhelm/rest/docs/article"
)

//go:embed *.md
var sources embed.FS

//go:embed figures/*.svg
var figures embed.FS

//go:embed proxies
var proxies embed.FS

// Figures returns the drawings of the guides, by file name.
func Figures() fs.FS {
	sub, err := fs.Sub(figures, "figures")
	if err != nil {
		panic(err) // the folder is embedded, so its name is valid
	}
	return sub
}

// Values are the values that guides may contain.
type Values struct {
	// The public addresses of the server, without a trailing slash.
	BaseURL, AuthURL, AppURL, MCPURL, FetchURL, DocsURL string
	// Predicates is the reference of the predicate language.
	Predicates string
	// Workflows is the reference of the language of workflows, as Markdown.
	Workflows string
	// Assistants has the steps to connect each assistant, as Markdown.
	Assistants string
	// Websites has examples of servers that set the visitor cookie, and WebsiteTag is the HTML
	// for the pages of websites.
	Websites   []script.Server
	WebsiteTag string
	// Problem is an example of a problem document, as JSON.
	Problem string
}

// guide is a guide with its place in the navigation.
type guide struct {
	article.Article

	order int
}

// All returns all guides in the order of the navigation within their groups. It fails if a
// guide lacks one of its first lines or is not a valid template.
func All(values Values) ([]article.Article, error) {
	names, err := fs.Glob(sources, "*.md")
	if err != nil {
		return nil, err
	}
	var list []guide
	for _, name := range names {
		source, err := sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		g, err := read(strings.TrimSuffix(name, ".md"), string(source), values)
		if err != nil {
			return nil, fmt.Errorf("guide %s: %w", name, err)
		}
		list = append(list, g)
	}
	slices.SortStableFunc(list, func(a, b guide) int { return cmp.Compare(a.order, b.order) })
	articles := make([]article.Article, 0, len(list))
	for _, g := range list {
		articles = append(articles, g.Article)
	}
	return articles, nil
}

// read parses a guide and fills in the values.
func read(name, source string, values Values) (guide, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(source, "---\n"), "\n---\n")
	if !ok {
		return guide{}, fmt.Errorf("the lines before the text do not end with ---")
	}
	filled, err := fill(head, values)
	if err != nil {
		return guide{}, err
	}
	g := guide{Article: article.Article{Path: "/guides/" + name}}
	for line := range strings.Lines(filled) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if err := g.set(strings.TrimSuffix(key, ":"), strings.TrimSpace(value)); err != nil {
			return guide{}, err
		}
	}
	if g.Title == "" || g.Summary == "" || g.order == 0 {
		return guide{}, fmt.Errorf("title, summary or order is missing")
	}
	g.Body, err = fill(body, values)
	return g, err
}

// set sets the member of the guide that a line before the text names.
func (g *guide) set(key, value string) (err error) {
	switch key {
	case "title":
		g.Title = value
	case "label":
		g.Label = value
	case "path":
		g.Path = strings.TrimSuffix(value, "/")
	case "group":
		g.Group = value
	case "summary":
		g.Summary = value
	case "order":
		g.order, err = strconv.Atoi(value)
	case "minutes":
		g.Minutes, err = strconv.Atoi(value)
	default:
		err = fmt.Errorf("unknown line %q", key)
	}
	return err
}

// proxy returns the documented configuration of a proxy, a file in the folder proxies.
func proxy(name string) (string, error) {
	text, err := proxies.ReadFile("proxies/" + name)
	return strings.TrimSpace(string(text)), err
}

// fill executes a text as a template with the values.
func fill(source string, values Values) (string, error) {
	t, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{"proxy": proxy}).Parse(source)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, values); err != nil {
		return "", err
	}
	return b.String(), nil
}
