package browser

import (
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// Authenticator is a virtual device of the tab that stores passkeys. Its owner confirms
// every request until Recognize changes that.
type Authenticator struct {
	tab *Tab
	id  webauthn.AuthenticatorID
}

// Authenticator adds a virtual device for passkeys to the tab and returns it.
func (tab *Tab) Authenticator() *Authenticator {
	tab.t.Helper()
	_, err := chromedp.Call(tab.ctx, webauthn.Enable, webauthn.EnableParams{})
	tab.must("authenticator", err)
	added, err := chromedp.Call(tab.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, AutomaticPresenceSimulation: true, IsUserVerified: true,
		},
	})
	tab.must("authenticator", err)
	return &Authenticator{tab: tab, id: added.AuthenticatorID}
}

// Recognize sets whether the device recognizes its owner.
func (a *Authenticator) Recognize(owner bool) {
	a.tab.t.Helper()
	_, err := chromedp.Call(a.tab.ctx, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: a.id, IsUserVerified: owner})
	a.tab.must("authenticator", err)
}
