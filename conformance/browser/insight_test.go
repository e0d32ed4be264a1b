package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestInsightByKeyboard goes with the keyboard alone from Home to bounced messages, changes
// the period of a report whose chart keeps its values, downloads the report, and changes the
// rules for undeliverable addresses.
func TestInsightByKeyboard(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{})
	s.send(3)
	s.openSignedIn(tab, "/dashboard")
	tab.Expect(http.StatusOK, "The last seven days", "Messages by day", "Assistants and programs today")
	tab.TabTo("/dashboard/messages?status=bounce")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "Messages", "Bounced", "welcome")

	tab.Go(s.p.AppURL + "/dashboard/reports")
	tab.Expect(http.StatusOK, "Deliverability", "Download as CSV")
	tab.TabTo("select group")
	tab.Press("m") // the period "Month"
	tab.Await(`#rows a[href*="group=month"]`)
	tab.TabTo("svg")
	tab.Press(kb.End)
	if values := tab.Read(".readout"); !strings.Contains(values, ": Delivered") {
		t.Errorf("the values of the replaced chart are %q", values)
	}
	if file := tab.Download(`#rows a[download]`); !strings.Contains(file, ",Sent,Delivered") || strings.Count(file, "\r\n") < 2 {
		t.Errorf("the file is %q", file)
	}

	tab.Go(s.p.AppURL + "/dashboard/suppressions")
	tab.Expect(http.StatusOK, "Suppressions", "This list belongs to the provider")
	tab.Go(s.p.AppURL + "/dashboard/undeliverable/rules")
	tab.TabTo("select profile")
	tab.Press("a") // the profile "Aggressive"
	tab.TabTo("Save rules")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "The rules are")
	if chosen := tab.Read("#profile option[selected]"); !strings.Contains(chosen, "Aggressive") {
		t.Errorf("the profile is %q", chosen)
	}
}
