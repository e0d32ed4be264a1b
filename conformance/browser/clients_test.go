package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
)

func TestLifeOfAnApplication(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/clients")
		tab.Expect(http.StatusOK, "Applications", "Courier for teams")
		tab.Picture("clients")
		tab.ExpectReachable()
		tab.Submit(".actions a.primary")
		tab.Picture("client-new")
		tab.Fill("#name", "Newsletter desk")
		tab.Fill("#redirect_uris", "https://desk.example.com/callback")
		choose(tab, "input[value='api.lists.view']")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The secret is not shown again")
		tab.Picture("client-secret")
		id, first := tab.Read("dd code.key"), s.once(tab, ".page a.button")
		s.issues(id, first, http.StatusOK)

		tab.Go(s.p.AppURL + "/dashboard/clients")
		tab.Submit(".table tbody tr:first-child th a")
		tab.Expect(http.StatusOK, "Newsletter desk", "https://desk.example.com/callback")
		tab.Picture("client")
		tab.Submit("a[href$='/edit']")
		tab.Fill("#redirect_uris", "http://desk.example.com/callback")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusUnprocessableEntity, "are not all valid: number 1")
		tab.Picture("client-edit-refused")
		tab.Fill("#redirect_uris", "https://desk.example.com/back")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The application is changed", "https://desk.example.com/back")

		tab.Submit("a[href$='/secret']")
		tab.Picture("client-rotate")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The previous secret no longer works")
		tab.Picture("client-rotated")
		second := tab.Read("pre.secret code")
		s.issues(id, first, http.StatusUnauthorized)
		s.issues(id, second, http.StatusOK)

		tab.Submit(".page a.button")
		tab.Go(s.p.AppURL + tab.Address().Path + "/revoke")
		tab.Picture("client-revoke")
		tab.Submit(".page form button.danger")
		tab.Expect(http.StatusOK, "The application is revoked")
		s.issues(id, second, http.StatusUnauthorized)
	})
}

func TestRevokingAGrant(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/grants")
		tab.Expect(http.StatusOK, "You have not granted access to any application")
		tab.Picture("grants-none")
		tab.Go(s.question())
		tab.Submit("button[value=approve]")
		s.expectCallback(tab, "code", "error", "")
		tab.Go(s.p.AppURL + "/dashboard/grants")
		tab.Expect(http.StatusOK, "Your grants", "Courier for teams")
		tab.Picture("grants")
		tab.Unfold("form[action$='/revoke']")
		tab.Picture("grants-ending")
		tab.Submit("form[action$='/revoke'] button")
		tab.Expect(http.StatusOK, "The access has ended", "You have not granted access to any application")
	})
}

func TestBlockingAnApplication(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/clients")
		tab.Unfold("#client_id")
		tab.Fill("#client_id", "https://assistant.example.com/client.json")
		tab.Submit("form[action='/dashboard/clients/block'] button")
		tab.Expect(http.StatusOK, "The application is blocked", "https://assistant.example.com/client.json")
		tab.Picture("clients-blocked")
		tab.Submit("form[action='/dashboard/clients/unblock'] button")
		tab.Expect(http.StatusOK, "The application is unblocked")
	})
}
