package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
)

// newKey creates an API key with the scope api.lists.view on the dashboard and returns its
// secret. It leaves the tab at the page of the key.
func (s *scene) newKey(tab *browser.Tab) string {
	s.t.Helper()
	tab.Go(s.p.AppURL + "/dashboard/keys/new")
	tab.Fill("#name", "Nightly import")
	choose(tab, "input[value='api.lists.view']")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "The key is not shown again")
	tab.Picture("key-secret")
	secret := s.once(tab, ".page a.button")
	tab.Go(s.p.AppURL + "/dashboard/keys")
	tab.Submit(".table tbody tr:first-child th a")
	tab.Expect(http.StatusOK, "Nightly import", "api.lists.view")
	return secret
}

func TestLifeOfAKey(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/keys")
		tab.Expect(http.StatusOK, "API keys", "active")
		tab.Picture("keys")
		tab.Submit(".actions a.primary")
		tab.Picture("key-new")
		tab.Fill("#name", "Nightly import")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusUnprocessableEntity, "New API key")
		tab.Picture("key-new-refused")
		first := s.newKey(tab)
		tab.Picture("key")
		tab.ExpectReachable()
		s.calls(first, "/v1/lists", http.StatusOK)

		tab.Submit("a[href$='/scopes']")
		choose(tab, "input[value='api.lists.view']")
		choose(tab, "input[value='api.topics.view']")
		tab.Picture("key-scopes")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "Change these scopes?", "Added", "Removed")
		tab.Picture("key-scopes-review")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The scopes are changed")
		tab.Picture("key-changed")
		s.calls(first, "/v1/lists", http.StatusForbidden)
		s.calls(first, "/v1/topics", http.StatusOK)

		tab.Submit("a[href$='/rotate']")
		tab.Picture("key-rotate")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The old key stays valid until")
		tab.Picture("key-rotated")
		second := tab.Read("pre.secret code")
		s.calls(first, "/v1/topics", http.StatusOK)
		s.calls(second, "/v1/topics", http.StatusOK)

		tab.Submit(".page a.button")
		tab.Go(s.p.AppURL + tab.Address().Path + "/revoke")
		tab.Picture("key-revoke")
		tab.Submit(".page form button.danger")
		tab.Expect(http.StatusOK, "The key is revoked")
		tab.Mark(".fold > summary")
		tab.Picture("keys-revoked")
		s.calls(second, "/v1/topics", http.StatusUnauthorized)
		s.calls(first, "/v1/topics", http.StatusOK)
	})
}
