package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestSegments opens the pages about segments with the demo's data. It writes a predicate,
// sees faults and the number of contacts change without a reload, saves the segment, and
// pauses it.
func TestSegments(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{Past: true})
	tab := browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/segments")
	tab.Expect(http.StatusOK, "Good customers", "good-customers")
	tab.Picture("segments")
	tab.ExpectReachable()
	tab.Submit("#rows tbody tr:nth-child(2) a")
	tab.Expect(http.StatusOK, "Predicate", "Used by", "Archive segment")
	tab.Picture("segment")

	tab.Go(s.p.AppURL + "/dashboard/segments/new")
	tab.Expect(http.StatusOK, "What you can test")
	tab.Fill("#source", "attr.oders >= 3")
	tab.AwaitText("#preview", "is not registered")
	tab.AwaitText("#preview", "attr.orders")
	tab.Picture("segment-faulty")
	tab.Fill("#source", "attr.orders >= 3")
	tab.AwaitText("#preview", "contacts match now")
	some := tab.Read("#preview .verdict-line strong")
	tab.Fill("#source", "attr.orders >= 3000")
	tab.AwaitText("#preview", "3000")
	if none := tab.Read("#preview .verdict-line strong"); some == "0" || none != "0" {
		t.Errorf("%s contacts match, and then %s", some, none)
	}
	tab.Picture("segment-preview")
	tab.Fill("#name", "Many orders")
	tab.Fill("#key", "many-orders")
	tab.Fill("#source", "attr.orders >= 2")
	tab.AwaitText("#preview", "is at least 2")
	tab.Submit(".editor form button.primary")
	tab.Expect(http.StatusOK, "The segment is saved", "Many orders", "orders is at least 2")
	tab.Submit("a[href$='/pause']")
	tab.Expect(http.StatusOK, "Pause this segment?")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "The segment is paused", "Resume segment")
}
