package browser_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestMessages searches a bounced message, opens it, and reads the values of a chart with
// the keyboard.
func TestMessages(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/messages")
	tab.Expect(http.StatusOK, "No message was sent in this time")
	s.send(3)
	tab.Go(s.p.AppURL + "/dashboard/messages")
	tab.Expect(http.StatusOK, "Delivered", "Bounced", "welcome", "1 to 50")
	tab.ExpectReachable()
	tab.TabTo("input template")
	tab.Press("welcome")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "Delivered", "welcome", "Clear filters")
	tab.TabTo("Search")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "Delivered")
	tab.Go(s.p.AppURL + "/dashboard/messages?status=bounce")
	tab.Expect(http.StatusOK, "Bounced", "welcome")
	tab.Picture("messages")

	tab.Submit("#rows tbody a")
	tab.Expect(http.StatusOK, "Message without a subject", "Did not arrive", "What to do next", "Evidence", "Event 2", "Other messages to this recipient")
	tab.ExpectReachable()
	tab.Picture("message")

	s.p.Clock.Freeze(s.p.Clock.Now()) // the last day of the chart is the day of the test
	tab.Go(s.p.AppURL + "/dashboard/health")
	tab.TabTo("svg")
	tab.Press(kb.End)
	tab.Expect(http.StatusOK, "Bounce rate", "Complaint rate", s.p.Clock.Now().UTC().Format("2006-01-02")+": Delivered")
}
