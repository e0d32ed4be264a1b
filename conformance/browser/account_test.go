package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
)

// TestConnectingAnAccount checks that an owner can connect, verify and disconnect a sending
// account. After the disconnect, the page must not show the old access key.
func TestConnectingAnAccount(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/account/connect")
		tab.Expect(http.StatusOK, "Connect the sending account", "Secret access key")
		tab.Picture("account-connect")
		tab.ExpectReachable()
		tab.Fill("input[name=region]", "eu-central-1")
		tab.Fill("input[name=access_key_id]", "AKIDEXAMPLE000000")
		tab.Fill("input[name=secret]", "open sesame")
		tab.Fill("input[name=role_arn]", "arn:aws:iam::111122223333:role/mailhelm")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The connection is stored", "External id", "/ingest/ses/")
		tab.Picture("account-connected")
		tab.ExpectReachable()
		tab.Submit("form[action$='/verify'] button.primary")
		tab.Expect(http.StatusOK, "Sending account check", "refuses the credentials")
		tab.Picture("account-verified")
		tab.Go(s.p.AppURL + "/dashboard/account/events-key")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "Your key for events", "x-api-key")
		tab.Picture("account-events-secret")
		tab.Go(s.p.AppURL + "/dashboard/account/connect?provider=smtp")
		tab.Expect(http.StatusOK, "Password", "Senders")
		tab.Picture("account-connect-smtp")
		tab.Go(s.p.AppURL + "/dashboard/account/disconnect")
		tab.Picture("account-disconnect")
		tab.Submit(".page form button.danger")
		tab.Expect(http.StatusOK, "credentials are deleted")
		if strings.Contains(tab.Text(), "AKIDEXAMPLE") {
			t.Error("the old credentials are shown")
		}
		tab.Go(s.p.AppURL + "/dashboard/channels")
		tab.Picture("channels-sync")
	})
}
