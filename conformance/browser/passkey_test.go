package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

func TestPasskey(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{})
	device := tab.Authenticator()
	s.openSignedIn(tab, "/account/security")
	tab.Fill("#passkey", "Laptop")
	tab.Submit("form[action='/account/security/passkeys'] button")
	tab.Expect(http.StatusOK, "Your recovery codes")
	tab.Submit(".card > p > a")
	tab.Expect(http.StatusOK, "Laptop", "You have 10 unused recovery codes")
	tab.Picture("security-passkey")
	tab.ExpectReachable()
	tab.Mark("form[action='/account/security/passkeys'] button")
	tab.Await("form[action='/account/security/passkeys'] [role=alert]")
	tab.Expect(http.StatusOK, "This device already has a passkey of your account")
	tab.Picture("security-passkey-refused")

	s.signOut(tab)
	tab.Picture("sign-in-passkey")
	device.Recognize(false)
	tab.Mark("form[action='/login/passkey'] button")
	tab.Await("form[action='/login/passkey'] [role=alert]")
	tab.Expect(http.StatusOK, "No passkey was used")
	tab.Picture("sign-in-passkey-refused")
	device.Recognize(true)
	tab.Submit("form[action='/login/passkey'] button")
	tab.Expect(http.StatusOK, "You are signed in", s.p.UserEmail)

	s.signOut(tab)
	s.signIn(tab)
	tab.Expect(http.StatusOK, "Second factor", "Use a passkey")
	tab.Picture("second-step-passkey")
	tab.Submit("form[data-passkey] button")
	tab.Expect(http.StatusOK, "You are signed in")

	tab.Go(s.p.AppURL + "/account/security")
	tab.Fill("input[aria-label='Name of the passkey']", "Old laptop")
	tab.Submit("form[action$='/rename'] button")
	tab.Expect(http.StatusOK, "Old laptop", "last used on")
	tab.Submit("form[action='/account/security/passkeys/remove'] button")
	tab.Expect(http.StatusOK, "Add passkey")
	if names := tab.ReadAll(".item bdi"); len(names) != 0 {
		t.Errorf("there is still %q", names)
	}
}

// TestPasskeyWithoutScripts checks that the security page says that passkeys need
// JavaScript.
func TestPasskeyWithoutScripts(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/account/security")
	tab.Expect(http.StatusOK, "Passkeys need JavaScript. Switch it on in this browser.")
	tab.Picture("security-without-scripts")
}
