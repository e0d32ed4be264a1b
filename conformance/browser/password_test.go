package browser_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

const chosenPassword = "seven kettles on a hill"

// TestResetAndChangePassword checks that a person can reset a forgotten password with the
// link from a mail. The person must then be able to sign in with the new password, and to
// change it.
func TestResetAndChangePassword(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]browser.Options{"with scripts": {}, "without scripts": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := product.Start(t, product.Options{Mail: true})
			tab := browser.Open(t, opts)
			tab.Go(p.AppURL + "/login")
			tab.Submit("a[href='/login/forgotten']")
			tab.Expect(http.StatusOK, "Forgotten password")
			tab.Picture("forgotten")
			tab.ExpectReachable()
			tab.Go(p.AppURL + "/login/forgotten")
			tab.Fill("#email", p.UserEmail)
			tab.Submit("form[action='/login/forgotten'] button")
			tab.Expect(http.StatusOK, "was sent to it")
			tab.Picture("forgotten-sent")

			link := regexp.MustCompile(`http://\S+`).FindString(p.Mailbox.Next().Text)
			tab.Go(link)
			tab.Expect(http.StatusOK, "Choose a new password", p.UserEmail)
			tab.Picture("new-password")
			choose := func(chosen string) {
				tab.Fill("#password", chosen)
				tab.Fill("#repeated", chosen)
				tab.Submit("form[action='/login/new-password'] button")
			}
			choose("Password1")
			tab.Expect(http.StatusUnprocessableEntity, "one of the 10,000 most common")
			tab.Picture("new-password-refused")
			tab.ExpectReachable()
			tab.Go(link)
			choose(chosenPassword)
			tab.Expect(http.StatusOK, "Your new password is set", "Sign in")
			tab.Picture("sign-in-after-reset")
			tab.Fill("#email", p.UserEmail)
			tab.Fill("#password", chosenPassword)
			tab.Submit("form[action='/login'] button")
			tab.Expect(http.StatusOK, "You are signed in")
			tab.Go(link)
			tab.Expect(http.StatusNotFound, "link is not valid", "Forgotten password")
			tab.Picture("link-used")

			tab.Go(p.AppURL + "/account/security")
			tab.Picture("security-password")
			tab.Submit("a[href='/account/security/password']")
			tab.Expect(http.StatusOK, "Change password", "Current password")
			tab.Fill("#current", "not the password")
			tab.Fill("#password", p.UserPassword)
			tab.Fill("#repeated", p.UserPassword)
			tab.Submit("form[action='/account/security/password'] button")
			tab.Expect(http.StatusUnprocessableEntity, "The current password is wrong")
			tab.Picture("change-password-refused")
			tab.ExpectReachable()
			tab.Go(p.AppURL + "/account/security/password")
			tab.Fill("#current", chosenPassword)
			tab.Fill("#password", p.UserPassword)
			tab.Fill("#repeated", p.UserPassword)
			tab.Submit("form[action='/account/security/password'] button")
			tab.Expect(http.StatusOK, "Your password was changed", "Security")
			tab.Picture("security-changed")
		})
	}
}

// TestForgottenWithoutMail checks that a server without mail names the command with which
// an administrator sets a password.
func TestForgottenWithoutMail(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		tab.Go(s.p.AppURL + "/login/forgotten")
		tab.Expect(http.StatusOK, "is not configured to send mail", "mailhelm admin user set-password")
		tab.Picture("forgotten-without-mail")
		tab.ExpectReachable()
	})
}
