package dashboard_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
)

var (
	shownKey    = regexp.MustCompile(`<pre class="secret" tabindex="0"><code>(sk_(?:live|test)_[A-Za-z0-9_-]+)</code>`)
	shownSecret = regexp.MustCompile(`<pre class="secret" tabindex="0"><code>(ocs_[A-Za-z0-9_-]+)</code>`)
	keyLink     = regexp.MustCompile(`href="(/dashboard/keys/[0-9a-f-]{36})"`)
	clientLink  = regexp.MustCompile(`href="(/dashboard/clients/[0-9a-f-]{36})"`)
)

// mustFind returns the first group of the pattern's first match in a page, unescaped. It
// fails the test without a match.
func (b *browser) mustFind(page string, pattern *regexp.Regexp) string {
	b.t.Helper()
	m := pattern.FindStringSubmatch(page)
	if m == nil {
		b.t.Fatalf("the page has nothing like %s: %s", pattern, page)
	}
	return html.UnescapeString(m[1])
}

// lacks fails the test if the page contains one of the texts.
func (b *browser) lacks(page string, texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			b.t.Errorf("the page shows %q: %s", text, page)
		}
	}
}

// calls sends a GET request to the public API with a bearer credential and checks the
// status of the answer.
func calls(t *testing.T, p *product.Product, path, bearer string, want int) {
	t.Helper()
	if got := p.Send(t, product.Request{URL: p.BaseURL + path, Bearer: bearer}); got.Status != want {
		t.Errorf("%s: %d, want %d", path, got.Status, want)
	}
}

// audited returns how often each action occurs among the last 500 events of the
// organization's audit log.
func audited(t *testing.T, p *product.Product) map[string]int {
	t.Helper()
	events, err := p.DB.Audit().FindAudit(t.Context(), p.OrgID, access.AuditFilter{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, e := range events {
		lines[e.Action]++
	}
	return lines
}
