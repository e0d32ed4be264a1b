package oauth_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/oauth"
	"golang.org/x/oauth2"
)

// TestThirdPartyClientForAPerson checks that the Go library oauth2 can authorize with PKCE,
// exchange the code, refresh, and see the error of a reused refresh token.
func TestThirdPartyClientForAPerson(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		for _, c := range []registeredClient{w.app, w.native} {
			client := oauth2.Config{
				ClientID: c.ClientID, ClientSecret: c.secret, RedirectURL: c.RedirectURIs[0], Scopes: []string{"api.account.view", "api.contacts.view"},
				Endpoint: oauth2.Endpoint{AuthURL: authorizeURL, TokenURL: w.issuer + oauth.TokenPath},
			}
			secret := oauth2.GenerateVerifier()
			address, err := url.Parse(client.AuthCodeURL("state", oauth2.S256ChallengeOption(secret)))
			w.must(err)
			request, refused := w.server.ReadAuthorization(t.Context(), address.RawQuery)
			if refused != nil {
				t.Fatalf("%+v", refused)
			}
			redirect, err := w.server.Approve(t.Context(), request, w.ann, core.AllScopes())
			w.must(err)
			got := w.returned(c.RedirectURIs[0], redirect)
			token, err := client.Exchange(context.Background(), got.Get("code"), oauth2.VerifierOption(secret))
			if err != nil || got.Get("state") != "state" {
				t.Fatalf("%v %v", got, err)
			}
			w.expectScopes(t, token.AccessToken, "api.account.view api.contacts.view")

			expired := *token
			expired.Expiry = time.Unix(1, 0)
			next, err := client.TokenSource(context.Background(), &expired).Token()
			if err != nil || next.RefreshToken == token.RefreshToken || !w.accepted(next.AccessToken) {
				t.Fatalf("%v", err)
			}
			_, err = client.TokenSource(context.Background(), &expired).Token()
			if err == nil || !strings.Contains(err.Error(), "used before") {
				t.Errorf("with the token before: %v", err)
			}
			if w.accepted(next.AccessToken) {
				t.Error("the replay did not end the family")
			}
		}
	})
}
