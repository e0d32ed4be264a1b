package oauth_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth"
)

func TestRevokedRefreshTokenEndsTheFamily(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, c := range []registeredClient{w.app, w.native} {
			first := w.family(c)
			live := w.granted(w.refresh(c, *first.RefreshToken))
			if !w.accepted(first.AccessToken) || !w.accepted(live.AccessToken) {
				t.Fatal("tokens are not accepted")
			}
			w.expectRevoked(t, w.revoke(c, *live.RefreshToken, "token_type_hint", "access_token"))
			w.expectEnded(c, live)
			if w.accepted(first.AccessToken) {
				t.Error("the first access token is still accepted")
			}
			w.expectRevoked(t, w.revoke(c, *live.RefreshToken)) // again
		}
		spent := w.family(w.app)
		live := w.granted(w.refresh(w.app, *spent.RefreshToken))
		w.expectRevoked(t, w.revoke(w.app, *spent.RefreshToken))
		w.expectEnded(w.app, live)
	})
}

func (w *world) expectRevoked(t *testing.T, a answer) {
	t.Helper()
	if a.status != http.StatusOK || a.Error != "" || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestRevokedAccessTokenIsDenied checks that the process that revokes an access token
// refuses it at once, and another process within five seconds. The refresh token must stay
// valid.
func TestRevokedAccessTokenIsDenied(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		elsewhere := w.authenticator()
		for resource, address := range map[access.Resource]string{access.API: apiResource, access.Agent: agentResource} {
			family := w.family(w.app, "resource", address)
			for _, c := range []struct {
				client registeredClient
				token  string
			}{
				{w.app, family.AccessToken},
				{w.live, w.goodToken(w.live, "resource", address)},
			} {
				for _, process := range []*bearer.Authenticator{w.auth, elsewhere} {
					if _, err := process.Authenticate(t.Context(), c.token, resource); err != nil {
						t.Fatal(err)
					}
				}
				w.expectRevoked(t, w.revoke(c.client, c.token, "token_type_hint", "refresh_token"))
				if _, err := w.auth.Authenticate(t.Context(), c.token, resource); err == nil {
					t.Errorf("still accepted at %s", address)
				}
				w.advance(5 * time.Second)
				if _, err := elsewhere.Authenticate(t.Context(), c.token, resource); err == nil {
					t.Errorf("still accepted in another process at %s", address)
				}
				id, _ := w.claimsOf(c.token, 1)["jti"].(string)
				w.expectDenied(t, id)
			}
			w.granted(w.refresh(w.app, *family.RefreshToken, "resource", address))
		}
	})
}

// expectDenied checks that the token with this id, which must not have expired, is still on
// the denylist after a purge of expired entries.
func (w *world) expectDenied(t *testing.T, id string) {
	t.Helper()
	_, err := w.db.Grants().PurgeGrants(t.Context(), w.clock())
	w.must(err)
	if denied, err := w.db.Tokens().IsTokenDenied(t.Context(), id); err != nil || !denied {
		t.Errorf("token %s: %v, %v", id, denied, err)
	}
}

func TestRevocationTouchesNothingElse(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		family := w.family(w.app)
		forCalls := w.goodToken(w.live)
		for _, stranger := range []registeredClient{w.native, w.other, w.public} {
			for _, token := range []string{family.AccessToken, *family.RefreshToken, forCalls} {
				w.expectRevoked(t, w.revoke(stranger, token))
			}
		}
		for _, token := range []string{
			"x", "ocr_x", access.MintRefreshToken().Secret, family.AccessToken[:40], family.AccessToken + "x",
			w.forge(claim("client_id", w.app.ClientID)), w.forge(claim("iss", "https://elsewhere.example")),
		} {
			w.expectRevoked(t, w.revoke(w.app, token))
		}
		if !w.accepted(family.AccessToken) || !w.accepted(forCalls) {
			t.Error("a token ended that was not to be revoked")
		}
		w.granted(w.refresh(w.app, *family.RefreshToken))
		w.advance(signing.AccessTokenLifetime)
		w.expectRevoked(t, w.revoke(w.app, family.AccessToken))
	})
}

func TestRevocationRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		family := w.family(w.app)
		thief := registeredClient{Client: w.app.Client, secret: access.MintClientSecret().Secret}
		w.expectError(w.revoke(thief, *family.RefreshToken), http.StatusUnauthorized, "invalid_client")
		w.expectError(w.revoke(registeredClient{Client: w.app.Client}, *family.RefreshToken), http.StatusUnauthorized, "invalid_client")
		w.expectError(w.revoke(w.revoked, *family.RefreshToken), http.StatusUnauthorized, "invalid_client")
		w.expectError(w.revoke(registeredClient{Client: w.native.Client, secret: thief.secret}, "x"), http.StatusUnauthorized, "invalid_client")
		w.expectError(w.post(oauth.RevocationPath, w.app), http.StatusBadRequest, "invalid_request")
		w.expectError(w.revoke(w.app, *family.RefreshToken, "token", "x"), http.StatusBadRequest, "invalid_request")
		w.expectError(w.do(w.request(http.MethodGet, oauth.RevocationPath, "")), http.StatusMethodNotAllowed, "invalid_request")
		w.expectError(w.do(w.request(http.MethodPost, oauth.RevocationPath+"?token=x", "")), http.StatusBadRequest, "invalid_request")
		w.granted(w.refresh(w.app, *family.RefreshToken))
	})
}

// TestRevokedGrantEndsItsTokens checks that revoking a grant, as a person or an
// administrator can, ends all its tokens.
func TestRevokedGrantEndsItsTokens(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		family := w.family(w.app)
		elsewhere := w.authenticator()
		if _, err := elsewhere.Authenticate(t.Context(), family.AccessToken, access.API); err != nil || !w.accepted(family.AccessToken) {
			t.Fatal(err)
		}
		grant, _ := w.claimsOf(family.AccessToken, 1)["gid"].(string)
		w.must(w.db.Grants().RevokeGrant(t.Context(), w.app.OrgID, grant, w.clock()))
		w.auth.ForgetGrant(grant)
		w.expectEnded(w.app, family)
		w.advance(5 * time.Second)
		if _, err := elsewhere.Authenticate(t.Context(), family.AccessToken, access.API); err == nil {
			t.Error("still accepted in another process after five seconds")
		}
	})
}
