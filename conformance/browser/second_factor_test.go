package browser_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/pquerna/otp/totp"
)

// app is the authenticator app of the user of the scene s. The field secret is the app's
// secret.
type app struct {
	s      *scene
	secret string
}

// code returns the next TOTP code of the authenticator app. It first advances the clock by
// a minute, because the product accepts each code once.
func (a app) code() string {
	a.s.t.Helper()
	a.s.p.Clock.Advance(time.Minute)
	code, err := totp.GenerateCode(a.secret, a.s.p.Clock.Now())
	if err != nil {
		a.s.t.Fatal(err)
	}
	return code
}

// setUpApp sets up an authenticator app in a tab that shows the security page. It returns
// the app and the recovery codes, and leaves the tab at the recovery codes.
func (s *scene) setUpApp(tab *browser.Tab) (app, []string) {
	s.t.Helper()
	tab.Submit("form[action='/account/security/app'] button")
	tab.Expect(http.StatusOK, "Set up an authenticator app")
	a := app{s: s, secret: strings.ReplaceAll(tab.Read("code.key"), " ", "")}
	tab.Picture("app")
	tab.Fill("#code", "000000")
	tab.Submit("form[action='/account/security/app/confirm'] button")
	tab.Expect(http.StatusUnprocessableEntity, "Set up an authenticator app")
	tab.Picture("app-refused")
	tab.Fill("#code", a.code())
	tab.Submit("form[action='/account/security/app/confirm'] button")
	tab.Expect(http.StatusOK, "Your recovery codes")
	codes := tab.ReadAll(".codes code")
	if len(codes) != 10 {
		s.t.Fatalf("%d recovery codes", len(codes))
	}
	return a, codes
}

// signOut signs the user out in the tab.
func (s *scene) signOut(tab *browser.Tab) {
	s.t.Helper()
	tab.Go(s.p.AppURL + "/login")
	tab.Submit("form[action='/logout'] button")
	tab.Expect(http.StatusOK, "Sign in")
}

// prove enters a code in the form on the tab's page and submits it.
func prove(tab *browser.Tab, code string) {
	tab.Fill("#code", code)
	tab.Submit("form:has(#code) button")
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.p.Clock.Freeze(s.p.Clock.Now())
		s.openSignedIn(tab, "/account/security")
		tab.Expect(http.StatusOK, "Set up authenticator app")
		tab.Picture("security")
		tab.ExpectReachable()
		phone, codes := s.setUpApp(tab)
		tab.Picture("recovery-codes")
		tab.Submit(".card > p > a")
		tab.Expect(http.StatusOK, "You have 10 unused recovery codes")
		tab.Picture("security-app")
		if strings.Contains(tab.Text(), codes[0]) || strings.Contains(tab.Text(), phone.secret) {
			t.Error("the page shows a secret again")
		}

		s.signOut(tab)
		s.signIn(tab)
		tab.Expect(http.StatusOK, "Second factor")
		tab.Picture("second-step")
		tab.ExpectReachable()
		prove(tab, "000000")
		tab.Expect(http.StatusUnprocessableEntity, "Second factor")
		tab.Picture("second-step-refused")
		prove(tab, phone.code())
		tab.Expect(http.StatusOK, "You are signed in")

		s.signOut(tab)
		s.signIn(tab)
		prove(tab, codes[0])
		tab.Expect(http.StatusOK, "You are signed in")
		tab.Go(s.p.AppURL + "/account/security")
		tab.Expect(http.StatusOK, "You have 9 unused recovery codes")
		tab.Submit("form[action='/account/security/app/remove'] button")
		tab.Expect(http.StatusOK, "Set up authenticator app")
	})
}

// TestOrganizationRequiresSecondFactor checks the sign-in of a person without a second
// factor to an organization that requires a second factor. The browser must show the page
// that sets up a second factor, and then the consent page. After eleven minutes a new API
// key requires another code.
func TestOrganizationRequiresSecondFactor(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.p.Clock.Freeze(s.p.Clock.Now())
		s.requireSecondFactor()
		tab.Go(s.question())
		s.signIn(tab)
		tab.Expect(http.StatusOK, "requires a second factor", "you return to the page that you opened")
		tab.Picture("security-required")
		phone, _ := s.setUpApp(tab)
		tab.Submit(".card > p > a")
		tab.Expect(http.StatusOK, "Courier for teams")
		tab.Submit("button[value=approve]")
		s.expectCallback(tab, "code", "error", "")

		s.p.Clock.Advance(11 * time.Minute)
		tab.Go(s.p.AppURL + "/dashboard/keys/new")
		tab.Expect(http.StatusOK, "Confirm your identity")
		tab.Picture("confirm")
		prove(tab, "000000")
		tab.Expect(http.StatusUnprocessableEntity, "Confirm your identity")
		prove(tab, phone.code())
		tab.Expect(http.StatusOK, "New API key")
		s.calls(s.newKey(tab), "/v1/lists", http.StatusOK)
	})
}

func (s *scene) requireSecondFactor() {
	s.t.Helper()
	org, err := s.p.DB.Orgs().Org(s.t.Context(), s.p.OrgID)
	if err == nil {
		org.RequireSecondFactor = true
		err = s.p.DB.Orgs().SetOrgSettings(s.t.Context(), org)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
