package dashboard_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestInvitationLinksStayPrivate checks that opening the link of an invitation does not use
// it up, because mail scanners and previews open links too. The answer must forbid
// referrers and caching.
func TestInvitationLinksStayPrivate(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		link := owner(t, p).invites("new@example.com", "lists.view")
		before := audited(t, p)
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet, http.MethodOptions, http.MethodPost} {
			r, err := http.NewRequestWithContext(t.Context(), method, p.AppURL+link, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := p.HTTP.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			h := answer.Header
			if h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cache-Control") != "no-store" || len(h["Set-Cookie"]) != 0 || h.Get("Location") != "" {
				t.Errorf("%s: %d %v", method, answer.StatusCode, h)
			}
		}
		if after := audited(t, p); !maps.Equal(after, before) {
			t.Errorf("opening the link left lines: %v", after)
		}
		guest := newBrowser(t, p)
		page := guest.open(link)
		guest.wants(page, "Choose a password")
		if strings.Contains(page, "https://") || strings.Contains(page, "<script") {
			t.Errorf("the page leads or runs elsewhere: %s", page)
		}
	})
}
