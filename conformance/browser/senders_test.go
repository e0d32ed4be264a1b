package browser_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestVerifiedSenders proves an address with the mailed code, after a wrong code, and removes it.
// It does so without scripts, which these pages do not need.
func TestVerifiedSenders(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{Mail: true}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/verified-senders")
	tab.Expect(http.StatusOK, "You have not verified an address")
	tab.Picture("verified-senders-none")
	tab.Fill("#email", "quality.assurance+sign-up-tests@department-of-engineering.acme-corporation.test")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "The code is mailed")
	mail := s.p.Mailbox.Next()
	code := regexp.MustCompile(`\b[0-9]{6}\b`).FindString(mail.Text)
	tab.Fill("#code", "00000")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusUnprocessableEntity, "The code has six digits.")
	tab.Picture("verified-sender")
	tab.ExpectReachable()
	tab.Fill("#code", code)
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "The address is verified")
	tab.Go(s.p.AppURL + "/dashboard/verified-senders")
	tab.Expect(http.StatusOK, "department-of-engineering", "Verified")
	tab.Picture("verified-senders")
	tab.Submit(".table tbody th a")
	tab.Submit(".page button.danger")
	tab.Expect(http.StatusOK, "The address is removed")
}

// TestMailStorage tests the files in which mail is stored, and enters a bucket on a host that is
// not reachable.
func TestMailStorage(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/mail-storage")
	tab.Expect(http.StatusOK, "New mail is stored in files of this installation")
	tab.Picture("mail-storage")
	tab.ExpectReachable()
	tab.Submit("form[action$='/test'] button")
	tab.Expect(http.StatusOK, "works", "Back to mail storage")
	tab.Picture("mail-storage-tested")
	tab.Submit(".page a.button")
	for field, text := range map[string]string{"#bucket": "acme-mail", "#region": "eu-central-1", "#endpoint": "http://127.0.0.1:1", "#access_key_id": "AKIAEXAMPLE", "#secret": "never shown"} {
		tab.Fill(field, text)
	}
	tab.Submit("form:has(#bucket) button.primary")
	tab.Expect(http.StatusUnprocessableEntity, "endpoint")
	tab.Picture("mail-storage-refused")
}

// TestPlatformMode switches platform mode on, after which the form for a new inbox asks for the
// account of a customer.
func TestPlatformMode(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/settings")
	tab.Mark("input[name='platform_mode']")
	tab.Submit("form:has(input[name='platform_mode']) button.primary")
	tab.Expect(http.StatusOK, "Platform mode")
	tab.Go(s.p.AppURL + "/dashboard/inboxes/new")
	tab.Expect(http.StatusOK, "Account of your customer")
	tab.Fill("#account_ref", "customer-1042")
	tab.Picture("inbox-new-platform")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "Inbox created")
}
