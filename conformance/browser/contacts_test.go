package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
)

// TestContacts creates a contact with a hostile name, finds it, edits, archives and
// activates it.
func TestContacts(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/contacts")
		tab.Expect(http.StatusOK, "Contacts", "New contact")
		tab.Submit("main .actions a[href$='/new']")
		tab.Fill("#email", "not an address")
		tab.Submit("form[action$='/contacts/new'] button.primary")
		tab.Expect(http.StatusUnprocessableEntity, "The address")
		tab.Fill("#email", "zoe@example.com")
		tab.Submit("form[action$='/contacts/new'] button.primary")
		tab.Expect(http.StatusOK, "zoe@example.com", "The contact is created", "mailable")
		tab.ExpectReachable()
		tab.Picture("contact")
		tab.Submit(".actions a[href$='/edit']")
		tab.Fill("#external_id", "<i>crm</i>-1")
		tab.Submit("form[action$='/edit'] button.primary")
		tab.Expect(http.StatusOK, "The changes are saved", "<i>crm</i>-1")
		tab.Go(s.p.AppURL + tab.Address().Path + "/archive")
		tab.Expect(http.StatusOK, "leaves every list")
		tab.Submit("form[action$='/archive'] button.danger")
		tab.Expect(http.StatusOK, "The contact is archived", "archived")

		tab.Go(s.p.AppURL + "/dashboard/contacts?q=CRM")
		tab.Expect(http.StatusOK, "No active contact matches")
		tab.Submit(".empty a")
		tab.Expect(http.StatusOK, "zoe@example.com")
		tab.Submit("#rows th a")
		tab.Submit("form[action$='/activate'] button")
		tab.Expect(http.StatusOK, "The contact is active again")
		tab.Go(s.p.AppURL + "/dashboard/contacts?attribute=none&value=x")
		tab.Expect(http.StatusUnprocessableEntity, "The attribute")
	})
}
