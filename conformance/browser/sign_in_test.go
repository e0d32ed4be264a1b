package browser_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		tab.Go(s.p.AppURL + "/login")
		tab.Expect(http.StatusOK, "Sign in")
		tab.Picture("sign-in")
		tab.Fill("#email", s.p.UserEmail)
		tab.Fill("#password", "not the password")
		tab.Submit("form[action='/login'] button")
		tab.Expect(http.StatusUnauthorized, "Sign in")
		tab.Picture("sign-in-refused")
		s.signIn(tab)
		tab.Expect(http.StatusOK, s.p.UserEmail, "Sign out everywhere")
		tab.Picture("signed-in")
		tab.ExpectReachable()
	})
}

func TestSignInWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{})
	tab.Go(s.p.AppURL + "/login")
	tab.ExpectReachable()
	tab.Go(s.p.AppURL + "/login")
	if got := tab.Focused(); got != "input email email" {
		t.Errorf("the page begins at %q", got)
	}
	tab.Press(s.p.UserEmail)
	tab.TabTo("password")
	tab.Press(s.p.UserPassword)
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, s.p.UserEmail)
}

func TestSwitchOrganization(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.join()
		tab.Go(s.p.AppURL + "/login")
		s.signIn(tab)
		tab.Picture("signed-in-two-organizations")
		tab.Choose("#org", s.p.Other.OrgID)
		tab.Submit("form[action='/switch-org'] button")
		tab.Expect(http.StatusOK, "Other Org")
		tab.Go(s.question())
		tab.Expect(http.StatusConflict, "Switch to")
		tab.Picture("consent-another-organization")
		tab.ExpectReachable()
		tab.Submit("form[action='/switch-org'] button")
		tab.Expect(http.StatusOK, "Courier for teams")
	})
}

// TestSignOutEverywhere checks that signing out everywhere in one browser also ends the
// session of another browser.
func TestSignOutEverywhere(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		elsewhere := browser.Open(t, browser.Options{})
		for _, b := range []*browser.Tab{tab, elsewhere} {
			b.Go(s.p.AppURL + "/login")
			s.signIn(b)
			b.Expect(http.StatusOK, "You are signed in")
		}
		tab.Submit("form[action='/logout-everywhere'] button")
		tab.Expect(http.StatusOK, "Sign in")
		elsewhere.Go(s.question())
		elsewhere.Expect(http.StatusOK, "Sign in", "Password")
	})
}
