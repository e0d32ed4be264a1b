package browser

import (
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// Authenticator is a virtual passkey device of a tab. It confirms every request of a page,
// as if the owner of the device did, until Recognize(false) is called.
type Authenticator struct {
	// tab is the only tab whose pages can use the virtual device.
	tab *Tab
	id  webauthn.AuthenticatorID
}

// Authenticator adds a virtual device for passkeys to the tab and returns it. The device
// is built in, like a fingerprint reader, and supports CTAP2, resident keys and user
// verification (WebAuthn).
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

// Recognize sets whether the device recognizes its owner. If owner is false, user
// verification fails (WebAuthn).
func (a *Authenticator) Recognize(owner bool) {
	a.tab.t.Helper()
	_, err := chromedp.Call(a.tab.ctx, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: a.id, IsUserVerified: owner})
	a.tab.must("authenticator", err)
}
