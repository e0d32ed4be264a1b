package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestKeysOfTheDashboard checks the keys that the script adds: to the search field, to the
// list of keys, and to a page after the letter g. A button copies the beginning of a key.
func TestKeysOfTheDashboard(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{Past: true})
	tab := browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard")
	tab.Press("?")
	tab.Await("dialog.keys")
	tab.Picture("keys-sheet")
	tab.Mark("dialog.keys button")
	tab.Await("body:not(:has(dialog[open]))")
	tab.Press("g")
	tab.PressToSubmit("u")
	tab.Expect(http.StatusOK, "Undeliverable")
	tab.Press("/")
	if focused := tab.Focused(); !strings.HasPrefix(focused, "input q") {
		t.Errorf("the focus is on %q", focused)
	}
	tab.Press("gk") // letters in a field are text
	if focused := tab.Focused(); !strings.Contains(focused, "gk") {
		t.Errorf("the field has %q", focused)
	}
	tab.Go(s.p.AppURL + "/dashboard/keys")
	tab.Submit(".table tbody tr:first-child th a")
	tab.Mark("button.copy")
	tab.Await("button.copy[data-done]")
}

// TestSidebarOnAPhone opens the folded sidebar by the keyboard alone, without scripts, and
// follows one of its links.
func TestSidebarOnAPhone(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{})
	tab := browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard")
	tab.AsPhone()
	if strings.Contains(tab.Text(), "Sending account\n") {
		t.Error("the sidebar is not folded")
	}
	tab.TabTo("Menu")
	tab.Press(kb.Enter)
	tab.Await("#side")
	tab.TabTo("/dashboard/audit")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "Audit log")
}

// TestQuestionInPlace checks that the script shows the question before a key is revoked on
// the page of the key. Cancel closes it, and its button revokes the key.
func TestQuestionInPlace(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{})
	tab := browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/keys")
	secret := s.newKey(tab)
	address := tab.Address().Path
	tab.Mark(".actions a.danger")
	tab.Await("dialog.question[open] h1")
	tab.Picture("question")
	if tab.Address().Path != address {
		t.Errorf("the address is %s", tab.Address())
	}
	tab.Mark("dialog.question a.button")
	s.calls(secret, "/v1/lists", http.StatusOK)
	tab.Mark(".actions a.danger")
	tab.Await("dialog.question[open] h1")
	tab.Submit("dialog.question button.danger")
	tab.Expect(http.StatusOK, "The key is revoked")
	s.calls(secret, "/v1/lists", http.StatusUnauthorized)
}
