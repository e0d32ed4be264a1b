package docs_test

import (
	"encoding/json"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/rest/docs"
	"github.com/prometheus/client_golang/prometheus"
)

func newDocs(t *testing.T, docsURL string) *docs.Site {
	t.Helper()
	operations := guardrails.New(guardrails.Config{Clock: core.SystemClock, Metrics: prometheus.NewRegistry()}).
		Catalogue(catalogue.Operations(catalogue.Domains{}))
	handler, err := docs.New(docs.Config{
		Catalogue: operations,
		Tools:     toolsOf(operations),
		BaseURL:   "https://api.test", AuthURL: "https://auth.test", AppURL: "https://app.test",
		MCPURL: "https://mcp.test", FetchURL: "https://fetch.test", DocsURL: docsURL, Commit: "abc1234", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// toolsOf returns the names of the operations without a route, and of two with one.
func toolsOf(operations *guardrails.Catalogue) []string {
	names := []string{"contacts_lookup", "contacts_archive"}
	for _, o := range operations.Operations() {
		if !slices.ContainsFunc(rest.Routes(), func(r rest.Route) bool { return r.Operation == o.Info().Name }) {
			names = append(names, o.Info().Name)
		}
	}
	return names
}

func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var (
	links = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	ids   = regexp.MustCompile(` id="([^"]*)"`)
)

// crawler follows the links of a site. It requests each page once.
type crawler struct {
	t     *testing.T
	site  http.Handler
	ids   map[string][]string // of each page, by path
	queue []string
}

// visit requests a page, checks its address, and queues its links.
func (c *crawler) visit(target string) {
	path, fragment, _ := strings.Cut(target, "#")
	if _, seen := c.ids[path]; !seen {
		w := get(c.site, path)
		if w.Code != http.StatusOK {
			c.t.Errorf("%q: status %d", target, w.Code)
		}
		c.ids[path] = []string{}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			c.read(path, w.Body.String())
		}
	}
	if fragment != "" && !slices.Contains(c.ids[path], fragment) {
		c.t.Errorf("%q: no such fragment", target)
	}
}

// read stores the ids of a page, which must differ, and queues its links.
func (c *crawler) read(path, body string) {
	for _, id := range ids.FindAllStringSubmatch(body, -1) {
		if slices.Contains(c.ids[path], id[1]) {
			c.t.Errorf("%q has two elements with the id %q", path, id[1])
		}
		c.ids[path] = append(c.ids[path], html.UnescapeString(id[1]))
	}
	for _, link := range links.FindAllStringSubmatch(body, -1) {
		switch next := html.UnescapeString(link[1]); {
		case strings.HasPrefix(next, "/"):
			c.queue = append(c.queue, next)
		case strings.HasPrefix(next, "#"):
			c.queue = append(c.queue, path+next)
		case strings.HasPrefix(next, "cursor://"), strings.HasPrefix(next, "vscode:"): // links that assistants open
		case next != "https://api.test/v1/openapi.json":
			c.t.Errorf("%q links to %q", path, next)
		}
	}
}

// TestEveryPageIsReached follows all links from the start page. It checks that each leads
// to a page, that each fragment exists there, that ids differ within a page, and that every
// page of the site is linked.
func TestEveryPageIsReached(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"/docs", ""} {
		site := newDocs(t, "https://app.test"+prefix)
		c := &crawler{t: t, site: site, ids: map[string][]string{}, queue: []string{prefix + "/"}}
		for len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			c.visit(next)
		}
		for _, info := range core.Codes() {
			if page := prefix + "/api/errors/" + string(info.Code); c.ids[page] == nil {
				t.Errorf("no page links to %s", page)
			}
		}
	}
}

// TestErrorPages checks that the `type` of a problem document leads to a page with the
// error code's title and an example problem document of that code.
func TestErrorPages(t *testing.T) {
	t.Parallel()
	h := newDocs(t, "https://app.test/docs")
	example := regexp.MustCompile(`(?s)<pre[^>]*><code>(.*?)</code></pre>`)
	for _, info := range core.Codes() {
		path := strings.TrimPrefix(info.Code.TypeURI("https://app.test/docs"), "https://app.test")
		body := get(h, path).Body.String()
		found := example.FindStringSubmatch(body)
		if !strings.Contains(body, html.EscapeString(info.Title)) || found == nil {
			t.Errorf("%s: the page lacks the title or the example", path)
			continue
		}
		var p core.Problem
		if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), &p); err != nil {
			t.Errorf("%s: example: %v", path, err)
		}
		if p.Code != info.Code || p.Status != info.Status || p.Detail == "" || p.Type != "https://app.test"+path {
			t.Errorf("%s: example = %+v", path, p)
		}
		if (info.Status == 429 || info.Status == 503) && p.RetryAfter == 0 {
			t.Errorf("%s: the example does not say when to retry", path)
		}
	}
}

func TestPagesListTheCatalogue(t *testing.T) {
	t.Parallel()
	h := newDocs(t, "https://app.test/docs")
	api := get(h, "/docs/api").Body.String()
	for _, route := range rest.Routes() {
		if !strings.Contains(api, `<code>`+html.EscapeString(route.Path)+`</code>`) || !strings.Contains(api, `id="`+route.Operation+`"`) {
			t.Errorf("%s %s is missing", route.Method, route.Path)
		}
	}
	scopes := get(h, "/docs/scopes").Body.String()
	for _, scope := range core.ScopeCatalogue() {
		if !strings.Contains(scopes, `id="`+string(scope.Scope)+`"`) {
			t.Errorf("%s is missing", scope.Scope)
		}
	}
	start := get(h, "/docs").Body.String()
	for _, address := range []string{"https://api.test/v1", "https://mcp.test/mcp", "https://auth.test", "https://app.test", "https://fetch.test"} {
		if !strings.Contains(start, "<code>"+address+"</code>") {
			t.Errorf("the start page lacks %s", address)
		}
	}
	if errors := get(h, "/docs/api/errors").Body.String(); !strings.Contains(errors, "<code>scope</code>") || strings.Contains(errors, "`") {
		t.Error("marks of the catalogue are not rendered")
	}
}

// inline matches scripts, handlers and styles that a page has itself.
var inline = regexp.MustCompile(`(?i)<script[^>]*>[^<]|<style| style=| on[a-z]+=`)

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := newDocs(t, "https://app.test/docs")
	for _, path := range []string{"/", "/docs", "/docs/style.css", "/docs/none"} {
		w := get(h, path)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
				"base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",
			"X-Frame-Options":        "DENY",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s = %q, want %q", path, name, got, want)
			}
		}
	}
	page := get(h, "/docs/api")
	if inline.MatchString(page.Body.String()) {
		t.Error("the page has an inline script, handler or style, which its policy forbids")
	}
	if again := get(h, "/docs/api", "If-None-Match", page.Header().Get("ETag")); again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("request with a current ETag: status %d", again.Code)
	}
}

func TestOtherAddresses(t *testing.T) {
	t.Parallel()
	h := newDocs(t, "https://app.test/docs")
	for path, want := range map[string]int{
		"/": 302, "/docs": 200, "/docs/": 200, "/docs/api/": 200,
		"/docs/none": 404, "/docs/api/errors/none": 404, "/docsapi": 404, "/api": 404, "/docs/<script>": 404,
	} {
		w := get(h, path)
		if w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
		if want == 404 && (!strings.Contains(w.Body.String(), "Page not found") || strings.Contains(w.Body.String(), "<script>")) {
			t.Errorf("%s: body %.100q", path, w.Body)
		}
	}
	if got := get(h, "/").Header().Get("Location"); got != "/docs" {
		t.Errorf("Location = %q", got)
	}
	for _, path := range docs.RootFiles {
		if got := get(h, path); got.Code != http.StatusFound || got.Header().Get("Location") != "/docs"+path {
			t.Errorf("%s: status %d, Location %q", path, got.Code, got.Header().Get("Location"))
		}
		for _, prefix := range []string{"/docs", ""} {
			if got := get(newDocs(t, "https://app.test"+prefix), prefix+path); got.Code != http.StatusOK || !strings.HasPrefix(got.Body.String(), "# ") {
				t.Errorf("%s: status %d, body %.100q", prefix+path, got.Code, got.Body)
			}
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/docs", nil))
	if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: status %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

// TestGuidesOfTheAudience checks that the guides contain the references of the languages of
// predicates and workflows, every reason for which an activity is rejected, and every JSON member with
// consent (contacts.StatedMembers) that all writes of contacts accept.
func TestGuidesOfTheAudience(t *testing.T) {
	t.Parallel()
	h := newDocs(t, "https://app.test/docs")
	if page := get(h, "/docs/guides/predicates").Body.String(); !strings.Contains(html.UnescapeString(page), predicate.Reference) {
		t.Error("the guide lacks the predicate language")
	}
	if page := html.UnescapeString(get(h, "/docs/guides/workflow-language").Body.String()); !strings.Contains(page, "repeat up to NUMBER every DURATION") || !strings.Contains(page, "did you mean new-customers?") {
		t.Error("the guide lacks the language of workflows")
	}
	page := get(h, "/docs/guides/activities").Body.String()
	for _, reason := range []activities.Reason{
		activities.InvalidName, activities.InvalidEmail, activities.InvalidExternalID, activities.InvalidIdempotencyKey, activities.InvalidDedupMode,
		activities.MissingIdentity, activities.UnknownExternalID, activities.ExternalIDConflict, activities.PropertiesTooLarge, activities.RateLimited, activities.DedupUnavailable,
	} {
		if !strings.Contains(page, "<code>"+string(reason)+"</code>") {
			t.Errorf("%s is not explained", reason)
		}
	}
	page = get(h, "/docs/guides/contacts").Body.String()
	for _, member := range contacts.StatedMembers {
		if !strings.Contains(page, "<code>"+member.Name+"</code>") {
			t.Errorf("%s is not explained", member.Name)
		}
	}
}
