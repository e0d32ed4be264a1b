package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestServerOverview checks that the page at the admin address shows the calls of the server, its
// connections to the database and its processes, and that it fits on a phone.
func TestServerOverview(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]browser.Options{"with scripts": {}, "without scripts": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, tab := product.Start(t, product.Options{}), browser.Open(t, opts)
			if got := p.Send(t, product.Request{URL: p.BaseURL + "/v1/contacts/" + p.Contact, Bearer: p.Live.APIKey}); got.Status != http.StatusOK {
				t.Fatalf("lookup: %d %s", got.Status, got.Body)
			}
			tab.Go(p.AdminURL)
			tab.Expect(http.StatusOK, "Ready", "Calls", "Most in the last hour", "Waiting work", "Write", "Channels", "all")
			if drawings := tab.ReadAll(".plot .drawing > title"); len(drawings) != 4 {
				t.Errorf("drawings: %q", drawings)
			}
			tab.ExpectReachable()
			if !opts.NoScript {
				tab.Picture("server-overview")
				tab.Accessible("")
			}
			tab.Go(p.AdminURL + "/?refresh")
			tab.Expect(http.StatusOK, "Reloads every 15 seconds")
		})
	}
}
