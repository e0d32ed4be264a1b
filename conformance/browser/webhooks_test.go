package browser_test

import (
	"crypto/x509"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestLifeOfAWebhook adds an endpoint on the dashboard, sends a test event, reads its
// delivery, rotates the secret and deletes the endpoint. The endpoint is a closed port of the
// loopback.
func TestLifeOfAWebhook(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]browser.Options{"with scripts": {}, "without scripts": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manageWebhook(t, newScene(t, product.Options{WebhookCAs: x509.NewCertPool()}), browser.Open(t, opts))
		})
	}
}

func manageWebhook(t *testing.T, s *scene, tab *browser.Tab) {
	t.Helper()
	s.openSignedIn(tab, "/dashboard/webhooks")
	tab.Expect(http.StatusOK, "Event webhooks", "An endpoint receives")
	tab.Picture("webhooks-none")
	tab.Submit("a.button.primary")
	tab.Picture("webhook-new")
	tab.Fill("#url", "http://127.0.0.1:1/mailhelm")
	tab.Fill("#description", "CRM")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusUnprocessableEntity, "The URL must begin with https://")
	tab.Picture("webhook-new-refused")
	tab.Fill("#url", "https://127.0.0.1:1/mailhelm")
	choose(tab, "input[value='clicked']")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "The secret is not shown again")
	tab.Picture("webhook-secret")
	if secret := s.once(tab, ".page .row a.button"); !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("the page shows the secret %q", secret)
	}
	tab.Go(s.p.AppURL + "/dashboard/webhooks")
	tab.Expect(http.StatusOK, "CRM", "127.0.0.1:1", "enabled")
	tab.Picture("webhooks")
	tab.Submit(".table tbody tr:first-child th a")
	tab.Expect(http.StatusOK, "Each event is listed here")
	tab.Submit("form[action$='/test'] button")
	tab.Expect(http.StatusOK, "A test event is on its way", "recipient@example.com")
	tab.Picture("webhook")
	tab.ExpectReachable()
	tab.Submit(".table tbody tr:first-child th a")
	tab.Expect(http.StatusOK, "webhook-id", "Test event of Mailhelm")
	tab.Picture("webhook-delivery")
	tab.Submit(".crumbs a:last-of-type")
	tab.Submit("a[href$='/rotate']")
	tab.Picture("webhook-rotate")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "every request has two signatures")
	tab.Picture("webhook-rotated")
	tab.Submit(".page .row a.button")
	tab.Go(s.p.AppURL + tab.Address().Path + "/delete") // with scripts, the button asks in place
	tab.Picture("webhook-delete")
	tab.Submit(".page form button.danger")
	tab.Expect(http.StatusOK, "The endpoint is deleted")
}
