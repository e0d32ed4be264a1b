package docs

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/rest/docs/article"
	"github.com/mailhelm/mailhelm/rest/docs/search"
)

// searchPath is the path of the page with the results of a search. indexPath is that of the
// index for the script.
const (
	searchPath = "/search"
	indexPath  = "/search-index.js"
)

// found is a query with its results, for the page of a search.
type found struct {
	Query   string
	Results []search.Result
}

// search answers a request for the page with the results of a search. The query is the
// parameter q. The server makes the index at the first search.
func (s *Site) search(r *http.Request) (page, error) {
	c, err := s.content()
	if err != nil {
		return page{}, err
	}
	query := r.URL.Query().Get("q")
	f := &found{Query: strings.ToValidUTF8(query[:min(len(query), search.MaxQuery)], "")}
	if f.Query != "" {
		index, err := c.index()
		if err != nil {
			return page{}, err
		}
		f.Results = index.Search(f.Query)
	}
	return c.renderSearch(f)
}

// renderSearch returns the page with the results of a search.
func (c *content) renderSearch(f *found) (page, error) {
	return c.renderWith(article.Article{
		Path: searchPath, Title: "Search",
		Summary: "Finds pages, members, scopes, tools and error codes. A result has all words of the search, or words that begin with them.",
	}, f)
}

// newIndex returns the index of all articles.
func (c *content) newIndex() (*search.Index, error) {
	var entries []search.Entry
	for _, a := range c.articles {
		document, err := renderer().Render(a.Body, c.address)
		if err != nil {
			return nil, err
		}
		beginning := search.Entry{Path: a.Path, Title: a.Title, Body: article.Plain(a.Summary)}
		for _, section := range document.Sections {
			if section.ID == "" {
				beginning.Body += " " + section.Body
				continue
			}
			entries = append(entries, search.Entry{Path: a.Path, ID: section.ID, Title: a.Title, Heading: section.Text, Body: section.Body})
		}
		entries = append(entries, beginning)
		for _, section := range document.Sections {
			for _, row := range section.Rows {
				entries = append(entries, search.Entry{Path: a.Path, ID: row.ID, Title: a.Title, Heading: row.Key, Body: row.Text})
			}
		}
	}
	return search.New(entries), nil
}

// maxIndexedBody is the number of characters of a text in the index for the script.
const maxIndexedBody = 120

// script returns the index for the script of the pages. suffix is what follows the path of
// a page in its address.
func (c *content) script(suffix string) (page, error) {
	index, err := c.index()
	if err != nil {
		return page{}, err
	}
	rows := make([][5]string, 0, len(index.Entries()))
	for _, e := range index.Entries() {
		body := []rune(e.Body)
		rows = append(rows, [5]string{e.Path, e.ID, e.Title, e.Heading, string(body[:min(len(body), maxIndexedBody)])})
	}
	text, err := json.Marshal(struct {
		Suffix  string      `json:"suffix"`
		Entries [][5]string `json:"entries"`
	}{suffix, rows})
	return newPage(mediaTypes[".js"], append([]byte("window.mailhelmSearch = "), append(text, ";\n"...)...)), err
}
