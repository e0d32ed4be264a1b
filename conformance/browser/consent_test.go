package browser_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
)

// TestApprove checks that a person can open an application's authorization link, sign in
// and approve the application on the consent page. The browser then brings code, state and
// issuer to the application's redirect URI.
func TestApprove(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		tab.Go(s.question())
		tab.Expect(http.StatusOK, "Sign in")
		s.signIn(tab)
		tab.Expect(http.StatusOK, "Courier for teams", s.p.UserEmail, "Write permissions are off by default")
		tab.Picture("consent")
		tab.ExpectReachable()
		tab.Mark("input[value='api.contacts.manage']")
		tab.Submit("button[value=approve]")
		s.expectCallback(tab, "code", "error", "")
		grants, err := s.p.DB.Grants().Grants(t.Context(), s.p.OrgID, access.GrantFilter{Limit: 10})
		if err != nil || len(grants) != 1 || !grants[0].Scopes.Has("api.contacts.manage") {
			t.Errorf("grants %+v, %v", grants, err)
		}
	})
}

func TestDecline(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		tab.Go(s.question())
		s.signIn(tab)
		tab.Submit("button[value=deny]")
		s.expectCallback(tab, "error", "code", "access_denied")
	})
}

// TestConsentWithTheKeyboardAlone checks that a person can approve an application without a
// mouse. Write scopes are not preselected, so approval with Enter must not grant them.
func TestConsentWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{})
	tab.Go(s.question())
	tab.Press(s.p.UserEmail)
	tab.TabTo("password")
	tab.Press(s.p.UserPassword)
	tab.PressToSubmit(kb.Enter)
	tab.TabTo("api.account.view")
	tab.Press(" ")
	tab.TabTo("approve")
	tab.PressToSubmit(kb.Enter)
	s.expectCallback(tab, "code", "error", "")
	grants, err := s.p.DB.Grants().Grants(t.Context(), s.p.OrgID, access.GrantFilter{Limit: 10})
	if err != nil || len(grants) != 1 || grants[0].Scopes.Has("api.contacts.manage") || grants[0].Scopes.Has("api.account.view") || !grants[0].Scopes.Has("api.lists.view") {
		t.Errorf("grants %+v, %v", grants, err)
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		tab.Go(s.p.AppURL + "/oauth/authorize?client_id=nobody")
		tab.Expect(http.StatusBadRequest, "This request cannot be answered")
		tab.Picture("refusal")
		tab.ExpectReachable()
	})
}
