package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestPagesAboutSending opens every page about sending with the demo's data, in a tab
// without scripts. It checks a text of each page and that the Tab key reaches its controls.
func TestPagesAboutSending(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{Past: true})
	tab := browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/health")
	for _, page := range []struct{ name, path, text string }{
		{"demo-health", "/dashboard/health", "Domains with the most bounces"},
		{"demo-health-90", "/dashboard/health?days=90", "Recent bounces"},
		{"demo-account", "/dashboard/account", "production access"},
		{"demo-channels", "/dashboard/channels", "click.example.com"},
		{"demo-undeliverable", "/dashboard/undeliverable", "listed"},
		{"demo-webhooks", "/dashboard/webhooks", "crm.example.com"},
		{"demo-undeliverable-excluded", "/dashboard/undeliverable?status=excluded", "excluded"},
		{"demo-undeliverable-rules", "/dashboard/undeliverable/rules", "permanent"},
		{"guide-sending-account", "/docs/guides/sending-account", "Amazon SES"},
	} {
		tab.Go(s.p.AppURL + page.path)
		tab.Expect(http.StatusOK, page.text)
		tab.Picture(page.name)
		if page.name != "guide-sending-account" {
			tab.ExpectReachable()
		}
	}
	tab.Go(s.p.AppURL + "/dashboard/undeliverable")
	if field, button := tab.Bottom(".filters input"), tab.Bottom(".filters button"); field != button {
		t.Errorf("the fields end at %v pixels, and the button beside them at %v", field, button)
	}
	tab.Submit(".table tbody tr:first-child a")
	tab.Expect(http.StatusOK, "Reason for the exclusion")
	tab.Picture("demo-undeliverable-one")
}
