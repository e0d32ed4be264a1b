package docs_test

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// firstResult matches the address of the first result of a search.
func firstResult(body string) string {
	_, list, ok := strings.Cut(body, `<ol class="results">`)
	if !ok {
		return ""
	}
	return html.UnescapeString(links.FindStringSubmatch(list)[1])
}

// TestSearchFindsNames checks that a search for an error code, a scope, a tool or an
// operation leads to its page or row first.
func TestSearchFindsNames(t *testing.T) {
	t.Parallel()
	h := newDocs(t, "https://app.test/docs")
	wants := map[string][]string{"dedup_mode": nil, "segments preview": nil}
	for _, info := range core.Codes() {
		wants[string(info.Code)] = []string{"/docs/api/errors/" + string(info.Code), "/docs/api/errors#" + string(info.Code)}
	}
	for _, scope := range core.ScopeCatalogue() {
		wants[string(scope.Scope)] = []string{"/docs/scopes#" + string(scope.Scope)}
	}
	for _, route := range rest.Routes() {
		wants[route.Operation] = []string{"/docs/api/" + route.Operation, "/docs/tools/" + route.Operation}
	}
	for query, want := range wants {
		body := get(h, "/docs/search?q="+url.QueryEscape(query)).Body.String()
		got := firstResult(body)
		if got == "" || want != nil && !slices.Contains(want, got) {
			t.Errorf("a search for %q finds %q first, want one of %q", query, got, want)
		}
	}
}

// TestSearchResultsExist follows the links of results, and checks the page for hostile and
// for empty queries.
func TestSearchResultsExist(t *testing.T) {
	t.Parallel()
	site := newDocs(t, "https://app.test/docs")
	c := &crawler{t: t, site: site, ids: map[string][]string{}}
	for _, query := range []string{"contact", "email", "retry after"} {
		c.read("/docs/search", get(site, "/docs/search?q="+url.QueryEscape(query)).Body.String())
		delete(c.ids, "/docs/search")
	}
	for _, link := range c.queue {
		c.visit(link)
	}
	// No page has a word that begins with qx; one with "script" and "alert" may exist.
	for query, want := range map[string]string{"": "Finds pages", `"><script>alert(1)</script>qx`: "No results", strings.Repeat("qx ", 50_000): "No results"} {
		w := get(site, "/docs/search?q="+url.QueryEscape(query))
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "<script>") || w.Body.Len() > 200_000 {
			t.Errorf("%.40q: status %d, %d bytes", query, w.Code, w.Body.Len())
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%.40q: Cache-Control = %q", query, got)
		}
	}
}
