package browser_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/site"
)

// maxPages is the maximum number of pages that the crawl opens.
const maxPages = 150

// ownWord matches a segment of a path that belongs to a page, not to the name of a record.
var ownWord = regexp.MustCompile(`^(new|~new|edit|source|versions|compare|preview|rules|import|file|properties|activity|activities|messages|segments|members|account|connect|disconnect|events-key|` +
	`invite|scopes|rotate|revoke|secret|archive|delete|export|add|pause|resume|restore|security|password|send|test|cancel|unschedule|sources|policy|timeline|setup|received)$`)

// kindOf returns a path in which the names of records are stars, and whether the address has
// a query. Pages of one kind come from one template.
func kindOf(u *url.URL) string {
	segments := strings.Split(u.EscapedPath(), "/")
	for i := 3; i < len(segments); i++ { // after "", "dashboard" and the area
		if !ownWord.MatchString(segments[i]) {
			segments[i] = "*"
		}
	}
	kind := strings.Join(segments, "/")
	if u.RawQuery != "" {
		kind += "?"
	}
	return kind
}

// crawl is a walk over the pages of the dashboard.
type crawl struct {
	*scene
	tab   *browser.Tab
	kinds map[string]bool // the kinds of page that were opened
	seen  map[string]bool
	queue []string
	pages int
}

// TestEveryLinkLeadsToAPage follows the links of the dashboard, with the demo's data and an
// owner who sees everything. It opens one page of each kind, for example the page of one
// contact: the page must answer with 200, have no violation of the rules of axe-core, and be
// no wider than a phone. It stores pictures of these pages.
func TestEveryLinkLeadsToAPage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := newScene(t, product.Options{Past: true, GitFolder: folder})
	c := &crawl{scene: s, tab: browser.Open(t, browser.Options{}), kinds: map[string]bool{}, seen: map[string]bool{}}
	s.addWebsite()
	s.openSignedIn(c.tab, "/dashboard")
	c.queue = []string{"/dashboard", "/account/security"}
	violations := 0
	for len(c.queue) > 0 && c.pages < maxPages {
		path := c.queue[0]
		c.queue = c.queue[1:]
		violations += c.visit(path)
	}
	// At last, because many pages have no forms while a repository is connected.
	violations += c.visitRepository(folder)
	t.Logf("%d pages of %d kinds, %d violations", c.pages, len(c.kinds), violations)
	if c.pages < 20 {
		t.Errorf("only %d pages", c.pages)
	}
	if len(c.queue) > 0 {
		t.Errorf("%d links are left after %d pages", len(c.queue), maxPages)
	}
}

// addWebsite creates a site key with an earlier one, and counts of beacons, so that the page
// about the website has all of its parts.
func (s *scene) addWebsite() {
	s.t.Helper()
	now, settings := s.p.Clock.Now(), s.p.Site.Settings
	count := func(outcome site.Outcome, name string, beacons int64) site.DayCount {
		return site.DayCount{OrgID: s.p.OrgID, Day: now.UTC().Truncate(24 * time.Hour), Count: site.Count{Outcome: outcome, Name: name, Beacons: beacons, LastAt: now}}
	}
	_, created := settings.Create(s.t.Context(), s.p.OrgID)
	_, rotated := settings.Rotate(s.t.Context(), s.p.OrgID)
	counted := s.p.DB.Site().AddSiteCounts(s.t.Context(), []site.DayCount{
		count(site.Written, "", 48_210), count(site.Duplicate, "", 310), count(site.UnknownVisitor, "", 12), count(site.LimitedVisitor, "", 1_204),
		count(site.BadName, "", 3), count(site.BadName, "Cart updated", 96), count(site.BadName, strings.Repeat("\u202eW", 32), 1),
	})
	if err := errors.Join(created, rotated, counted); err != nil {
		s.t.Fatal(err)
	}
}

// visit opens a page, checks it and adds its links to the queue. It returns the number of
// violations.
func (c *crawl) visit(path string) int {
	u, err := url.Parse(path)
	if err != nil {
		c.t.Fatal(err)
	}
	kind := kindOf(u)
	if c.kinds[kind] {
		return 0
	}
	c.kinds[kind] = true
	c.seen[path] = true
	if u.RawQuery != "" { // a page with other rows, or with a filled form
		c.fetch(path, path)
		return 0
	}
	c.pages++
	c.tab.Go(c.p.AppURL + path)
	c.tab.Expect(http.StatusOK)
	c.tab.Picture("page" + strings.NewReplacer("/dashboard", "", "/", "-", "*", "one").Replace(kind))
	for _, link := range c.tab.Links() {
		c.follow(path, link)
	}
	sidebar := "#side"
	if c.pages == 1 {
		sidebar = "" // it is the same on every page
	}
	return c.tab.Accessible(sidebar)
}

// follow adds a link to the queue if it leads to a page of the dashboard. The answer to a
// link to another page of this host, or to a file, must be 200.
func (c *crawl) follow(from string, link browser.Link) {
	u, err := url.Parse(link.Address)
	if err != nil {
		c.t.Errorf("%s: the link %q: %v", from, link.Address, err)
		return
	}
	app, err := url.Parse(c.p.AppURL)
	if err != nil || u.Host != app.Host {
		return
	}
	path := u.RequestURI()
	board := strings.HasPrefix(path, "/dashboard") || strings.HasPrefix(path, "/account")
	switch {
	case board && !link.Download:
		c.queue = append(c.queue, path)
	case !c.seen[path]:
		c.seen[path] = true
		c.fetch(from, path)
	}
}

// fetch requests a path without opening it. The answer must be 200.
func (c *crawl) fetch(from, path string) {
	if status := c.tab.Fetch(path); status != http.StatusOK {
		c.t.Errorf("%s: the link to %s is answered with %d", from, path, status)
	}
}
