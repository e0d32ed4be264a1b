package browser_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// documentationPages has one path of each kind of page of the documentation, by the name of
// its picture.
var documentationPages = []struct{ name, path string }{
	{"start", "/"},
	{"guide", "/guides/sending-account"},
	{"routes", "/api"},
	{"route", "/api/contacts_upsert_by_external_id"},
	{"tool", "/tools/messages_search"},
	{"errors", "/api/errors"},
	{"found", "/search?q=idempotency"},
	{"not-found", "/search?q=zzzz"},
	{"changelog", "/changelog"},
}

// TestDocumentationPages opens a page of each kind of the documentation. It must answer with
// 200, have no violation of the rules of axe-core, and be no wider than a phone. Its links
// must lead to pages. It stores a picture of each page.
func TestDocumentationPages(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	tab := browser.Open(t, browser.Options{})
	linked := map[string]bool{}
	for i, page := range documentationPages {
		tab.Go(p.DocsURL + page.path)
		tab.Expect(http.StatusOK)
		tab.Picture("docs-" + page.name)
		for _, link := range tab.Links() {
			if u, err := url.Parse(link.Address); err == nil && strings.HasPrefix(link.Address, p.AppURL) {
				linked[u.Path] = true
			}
		}
		sidebar := ".side"
		if i == 0 {
			sidebar = "" // it is the same on every page
		}
		tab.Accessible(sidebar)
	}
	if len(linked) < 100 {
		t.Errorf("only %d pages are linked", len(linked))
	}
	for path := range linked {
		if status := tab.Fetch(path); status != http.StatusOK {
			t.Errorf("the link to %s is answered with %d", path, status)
		}
	}
}

// TestDocumentationScript checks what the script adds to the pages: a chosen language stays
// chosen on other pages, results appear while a person writes, and the menu of a phone opens.
func TestDocumentationScript(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	tab := browser.Open(t, browser.Options{})
	tab.Go(p.DocsURL + "/api/contacts_upsert_by_external_id")
	tab.Mark(`.tabs input[value="Python"] + label`)
	tab.Go(p.DocsURL + "/api/lists_list")
	tab.Await(`.tabs input[value="Python"]:checked + label + .code pre`)
	tab.Fill(`input[type="search"]`, "rate_limited")
	tab.Await(`.live a[href$="/api/errors/rate_limited"]`)
	tab.AsPhone()
	tab.Go(p.DocsURL + "/guides/start")
	tab.Mark(".menu summary")
	tab.Await(".side a[aria-current]")
}
