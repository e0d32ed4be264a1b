package browser_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
)

// TestReceivingDomains adds a webhook to a receiving domain, sends a test message, receives mail,
// reads its course, sends it again, and deletes the domain. A second domain waits for DNS.
func TestReceivingDomains(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	var posts atomic.Int64
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		posts.Add(1)
		if fails.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(hook.Close)
	roots := x509.NewCertPool()
	roots.AddCert(hook.Certificate())
	s := newScene(t, product.Options{WebhookCAs: roots})
	verified := receiving.Domain{ID: core.NewID(), Domain: "in.acme.test", Status: receiving.Verified, CreatedAt: s.p.Clock.Now(), Records: []receiving.Record{
		{Type: "MX", Name: "in.acme.test", Value: "10 mx.example.net", Verified: true},
	}}
	const long = "support.a-rather-long-name-of-a-subdomain.acme-corporation.test"
	waiting := receiving.Domain{ID: core.NewID(), Domain: long, Status: receiving.PendingDNS, CreatedAt: s.p.Clock.Now(), Records: []receiving.Record{
		{Type: "MX", Name: long, Value: "10 mx.example.net"},
		{Type: "CNAME", Name: "k2fzr3xrlv4nq5tpm6wgy7dqs2azxc5b._domainkey.acme-corporation.test", Value: "k2fzr3xrlv4nq5tpm6wgy7dqs2azxc5b.dkim.amazonses.com"},
	}}
	tab := browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/receiving")
	tab.Expect(http.StatusOK, "A receiving domain delivers its mail to your program")
	tab.Picture("receiving-none")
	tab.Go(s.p.AppURL + "/dashboard/received-mail")
	tab.Picture("received-mail-none")
	if err := errors.Join(s.p.DB.ReceivingDomains().InsertDomain(t.Context(), s.p.OrgID, verified), s.p.DB.ReceivingDomains().InsertDomain(t.Context(), s.p.OrgID, waiting)); err != nil {
		t.Fatal(err)
	}
	tab.Go(s.p.AppURL + "/dashboard/receiving/" + waiting.ID)
	tab.Expect(http.StatusOK, "waits for DNS", "10 mx.example.net", "not found")
	tab.Picture("receiving-domain-waiting")
	tab.ExpectReachable()
	setReceivingWebhook(t, s, tab, verified, hook.URL)
	receiveMail(t, s, tab, verified, &fails, &posts)
	tab.Go(s.p.AppURL + "/dashboard/receiving")
	tab.Expect(http.StatusOK, verified.Domain, waiting.Domain)
	tab.Picture("receiving")
	tab.Go(s.p.AppURL + "/dashboard/receiving/" + verified.ID + "/delete")
	tab.Picture("receiving-delete")
	tab.Submit(".page form button.danger")
	tab.Expect(http.StatusOK, "The domain is deleted")
}

// setReceivingWebhook sets the webhook and an address of a domain.
func setReceivingWebhook(t *testing.T, s *scene, tab *browser.Tab, d receiving.Domain, url string) {
	t.Helper()
	tab.Go(s.p.AppURL + "/dashboard/receiving/" + d.ID)
	tab.Expect(http.StatusOK, "Without a webhook, mail is logged and not delivered", "No address is minted")
	tab.Submit(".head .actions a.primary")
	tab.Picture("receiving-webhook")
	tab.Fill("#url", strings.Replace(url, "https:", "http:", 1)+"/mail")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusUnprocessableEntity, "https")
	tab.Fill("#url", url+"/mail")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "The secret is not shown again")
	tab.Picture("receiving-webhook-secret")
	if secret := s.once(tab, ".page .row a.button"); !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("the page shows the secret %q", secret)
	}
	tab.Go(s.p.AppURL + "/dashboard/receiving/" + d.ID + "/addresses")
	tab.Picture("receiving-address")
	tab.Fill("#local_part", "order-1043")
	tab.Fill("#metadata", `{"order": 1043, "customer": "Ada Lovelace and Company", "note": "a long text that describes the order in some detail"}`)
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "The address is added", "order-1043@in.acme.test")
}

// receiveMail sends a test message and mail to a domain, reads their courses and sends a message
// again. Then it lets the endpoint fail for more than an hour, for which the pages show an alert.
func receiveMail(t *testing.T, s *scene, tab *browser.Tab, d receiving.Domain, fails *atomic.Bool, posts *atomic.Int64) {
	t.Helper()
	domain := s.p.AppURL + "/dashboard/receiving/" + d.ID
	product.Await(t, time.Minute, func() error {
		s.p.Clock.Advance(time.Second)
		found, err := s.p.DB.ReceivingDomains().Domain(t.Context(), s.p.OrgID, d.ID)
		if err == nil && found.Webhook.Status != "published" {
			err = errors.New("the webhook is not published")
		}
		return err
	})
	tab.Go(domain)
	tab.Expect(http.StatusOK, "published")
	tab.Picture("receiving-domain")
	tab.ExpectReachable()
	tab.Submit("form[action$='/webhook/test'] button")
	tab.Expect(http.StatusOK, "A test message is on its way")
	tab.ReloadUntil("delivered")
	tab.Picture("received-mail-test")
	to := "order-1043@in.acme.test"
	for _, raw := range []string{signUpMail(to, "http://127.0.0.1:1/hit"), trickMail(to)} {
		if err := deliver(s.p, "bounces+a-very-long-envelope-sender-of-a-mailing-list-program=order-1043@lists.acme-corporation.test", to, raw); err != nil {
			t.Fatal(err)
		}
	}
	tab.Go(s.p.AppURL + "/dashboard/received-mail")
	tab.ReloadUntil("Your code is 482913")
	tab.ReloadUntil("<img src=x")
	tab.Expect(http.StatusOK, "delivered", "test")
	expectVisible(t, tab)
	tab.Picture("received-mail")
	tab.ExpectReachable()
	tab.Submit("#rows tbody tr:first-child a")
	tab.Expect(http.StatusOK, "bounces+a-very-long", "not checked here")
	expectVisible(t, tab)
	tab.Submit("form[action$='/resend'] button")
	tab.Expect(http.StatusOK, "The message is sent again within seconds")
	tab.ReloadUntil("delivered")
	tab.Picture("received-mail-one")
	entry := tab.Address().String()
	filterLog(s, tab, to)
	resendWindow(t, s, tab, domain, posts)
	tab.Go(entry)
	fails.Store(true)
	tab.Submit("form[action$='/resend'] button")
	product.Await(t, time.Minute, func() error {
		s.p.Clock.Advance(5 * time.Minute)
		found, err := s.p.DB.ReceivingDomains().Domain(t.Context(), s.p.OrgID, d.ID)
		if err == nil && found.Alert(s.p.Clock.Now()) == "" {
			err = errors.New("the webhook has not failed for an hour")
		}
		return err
	})
	s.openAgain(tab, "/dashboard")
	tab.Expect(http.StatusOK, "Every delivery to the webhook of in.acme.test")
	tab.Go(domain)
	tab.Expect(http.StatusOK, "Every delivery to the webhook of in.acme.test")
	tab.Picture("receiving-domain-failing")
}

// filterLog filters the log by a recipient and by days. The form keeps the filters.
func filterLog(s *scene, tab *browser.Tab, recipient string) {
	s.t.Helper()
	today := s.p.Clock.Now().UTC()
	tab.Go(s.p.AppURL + "/dashboard/received-mail")
	tab.Fill("#recipient", recipient)
	tab.Choose("#outcome", "delivered")
	tab.Submit("form.filters button.primary")
	tab.Expect(http.StatusOK, "Your code is 482913", "1 to 2")
	for days, want := range map[int]string{-1: "No received message matches these filters", 1: "Your code is 482913"} {
		asked := url.Values{"recipient": {recipient}, "since": {today.AddDate(0, 0, -2).Format(time.DateOnly)}, "until": {today.AddDate(0, 0, days).Format(time.DateOnly)}}
		tab.Go(s.p.AppURL + "/dashboard/received-mail?" + asked.Encode())
		tab.Expect(http.StatusOK, want)
		for field := range asked {
			tab.Await(fmt.Sprintf("#%s[value=%q]", field, asked.Get(field)))
		}
	}
	tab.Picture("received-mail-filtered")
}

// resendWindow sends the messages of the last hour again by the form on the page of a domain.
// posts counts the requests to the webhook.
func resendWindow(t *testing.T, s *scene, tab *browser.Tab, domain string, posts *atomic.Int64) {
	t.Helper()
	now, before := s.p.Clock.Now().UTC(), posts.Load()
	send := func(from, to time.Time) {
		tab.Go(domain)
		tab.Unfold("#from")
		tab.Choose("#from", from.Format("2006-01-02T15:04"))
		tab.Choose("#to", to.Format("2006-01-02T15:04"))
		tab.Submit("form[action$='/webhook/resend'] button")
	}
	send(now.Add(-48*time.Hour), now.Add(-47*time.Hour))
	tab.Expect(http.StatusOK, "No message of this time can be sent again")
	send(now, now.Add(-time.Hour))
	tab.Expect(http.StatusUnprocessableEntity, "The beginning must be before the end")
	tab.Picture("receiving-window-refused")
	send(now.Add(-time.Hour), now.Add(time.Hour))
	tab.Expect(http.StatusOK, "The messages of this time are sent again within seconds")
	product.Await(t, time.Minute, func() error {
		s.p.Clock.Advance(time.Second)
		if sent := posts.Load() - before; sent < 2 {
			return fmt.Errorf("%d messages are sent again", sent)
		}
		return nil
	})
}

// openAgain opens a page, and signs in again if the session has ended.
func (s *scene) openAgain(tab *browser.Tab, path string) {
	s.t.Helper()
	tab.Go(s.p.AppURL + path)
	if tab.Address().Path != path {
		s.signIn(tab)
	}
}
