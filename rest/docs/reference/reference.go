package reference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/rest/docs/article"
)

// Group is the heading of the generated pages in the navigation.
const Group = "Reference"

// Config has what the pages describe. Addresses have no trailing slash.
type Config struct {
	Catalogue *guardrails.Catalogue
	// Tools has the names of the operations that are also MCP tools.
	Tools []string
	// BaseURL, MCPURL and DocsURL are the addresses of the API, the agent endpoint and the
	// documentation.
	BaseURL, MCPURL, DocsURL string
}

// operation is an operation of the catalogue with its routes. Tool says whether it is also
// an MCP tool.
type operation struct {
	core.OperationInfo

	declared *guardrails.Operation
	Tool     bool
	Routes   []rest.Route
}

// operations returns all operations in the order of the catalogue.
func (c Config) operations() []operation {
	var list []operation
	for _, guarded := range c.Catalogue.Operations() {
		o := operation{OperationInfo: guarded.Info(), declared: guarded}
		o.Tool = slices.Contains(c.Tools, o.Name)
		for _, route := range rest.Routes() {
			if route.Operation == o.Name {
				o.Routes = append(o.Routes, route)
			}
		}
		list = append(list, o)
	}
	return list
}

// summary returns the first sentence of the operation's purpose.
func (o operation) summary() string {
	first, _, cut := strings.Cut(o.Purpose, ". ")
	if cut {
		first += "."
	}
	return first
}

// effect describes in words whether the operation reads, writes or destroys.
func (o operation) effect() string {
	switch o.Effect {
	case core.Writes:
		return "changes data; can be changed back"
	case core.Destroys:
		return "cannot simply be undone; refused to test credentials"
	}
	return "reads only"
}

// scopes returns the scopes of the operation as links, or "any credential".
func (o operation) scopes() string {
	if len(o.Scopes)+len(o.ContentScopes) == 0 {
		return "any credential"
	}
	links := make([]string, 0, len(o.Scopes))
	for _, scope := range o.Scopes {
		links = append(links, scopeLink(scope))
	}
	if len(o.ContentScopes) > 0 {
		var some []string
		for _, scope := range o.ContentScopes {
			some = append(some, scopeLink(scope))
		}
		links = append(links, "by the content of the call, some of "+strings.Join(some, ", "))
	}
	for _, argument := range slices.Sorted(maps.Keys(o.ArgumentScopes)) {
		links = append(links, "for `"+argument+"` also "+scopeLink(o.ArgumentScopes[argument]))
	}
	return strings.Join(links, ", ")
}

// scopeLink returns a link to the description of a scope.
func scopeLink(scope core.Scope) string {
	return "[`" + string(scope) + "`](/scopes#" + string(scope) + ")"
}

// table writes a table in Markdown.
type table struct{ strings.Builder }

// newTable returns a table with these headings of columns.
func newTable(headings ...string) *table {
	t := &table{}
	t.row(headings...)
	t.WriteString("|" + strings.Repeat("---|", len(headings)) + "\n")
	return t
}

// row appends a row of cells in Markdown.
func (t *table) row(cells ...string) {
	for _, cell := range cells {
		t.WriteString("| " + article.Cell(cell) + " ")
	}
	t.WriteString("|\n")
}

// Paths returns the path of the page of each operation, by the operation's name: the page
// of its route, or the page of its tool if it has no route.
func (c Config) Paths() map[string]string {
	paths := map[string]string{}
	for _, o := range c.operations() {
		if len(o.Routes) > 0 {
			paths[o.Name] = "/api/" + o.Name
		} else if o.Tool {
			paths[o.Name] = "/tools/" + o.Name
		}
	}
	return paths
}

// All returns all generated articles, in the order of the navigation.
func All(c Config) ([]article.Article, error) {
	articles := []article.Article{Routes(c), Tools(c), Scopes(c), Errors()}
	for _, info := range core.Codes() {
		page, err := Error(c, info)
		if err != nil {
			return nil, err
		}
		articles = append(articles, page)
	}
	for _, o := range c.operations() {
		if len(o.Routes) > 0 {
			page, err := c.operationPage(o)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o.Name, err)
			}
			articles = append(articles, page)
		}
		if o.Tool {
			page, err := c.toolPage(o)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o.Name, err)
			}
			articles = append(articles, page)
		}
	}
	return articles, nil
}
