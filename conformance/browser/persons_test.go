package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestPersonalData exports and erases the data of a contact, from the contact's page. The pages
// need no scripts, and a second factor.
func TestPersonalData(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.p.Clock.Freeze(s.p.Clock.Now())
	s.openSignedIn(tab, "/dashboard/personal-data")
	tab.Expect(http.StatusOK, "Add a second factor")
	tab.Picture("personal-data-factor")
	tab.Submit(".page a.button.primary")
	s.setUpApp(tab)

	tab.Go(s.p.AppURL + "/dashboard/contacts?status=unmailable")
	tab.Submit(".table tbody th a")
	email := tab.Read("dd .copyable code")
	tab.Submit(".head .actions a[href*='personal-data']")
	tab.Expect(http.StatusOK, "Email address of the person")
	tab.Picture("personal-data")
	tab.ExpectReachable()
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "Data about "+email, "Erase person")
	tab.Picture("personal-data-person")
	tab.ExpectReachable()
	if page := tab.Download("button[value='html']"); !strings.Contains(page, "<h1>Data about "+email) {
		t.Errorf("the page for the person: %.300s", page)
	}
	tab.Fill("#typed", "somebody@example.com")
	tab.Submit("button.danger")
	tab.Expect(http.StatusConflict, "Nothing was erased")
	tab.Picture("personal-data-refused")
	tab.Fill("#typed", email)
	tab.Submit("button.danger")
	tab.Expect(http.StatusOK, "The person was erased")
	tab.Picture("personal-data-erased")
	tab.Submit(".page a.button")
	tab.Fill("#email", email)
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "A person with this address was erased")
	tab.Picture("personal-data-again")
}

// TestDeletingPages shows the pages that delete the organization and the user's account.
func TestDeletingPages(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/account/delete")
	tab.Expect(http.StatusOK, "Delete account")
	tab.Picture("delete-account")
	tab.Go(s.p.AppURL + "/dashboard/delete-organization")
	tab.Expect(http.StatusOK, "Delete organization")
	tab.Picture("delete-organization")
	tab.ExpectReachable()
	slug := tab.Read("label[for='slug'] code")
	tab.Fill("#slug", slug)
	tab.Submit("button.danger")
	tab.Expect(http.StatusOK, "was deleted", "Restore organization")
	tab.Picture("organization-deleted")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "Home")
}
