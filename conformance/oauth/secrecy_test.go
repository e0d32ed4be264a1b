package oauth_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// TestNoSecretReachesTheLog checks that no secret appears in the log at any level, even if
// a client sends it in the wrong parameter.
func TestNoSecretReachesTheLog(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		token := w.goodToken(w.live)
		code := w.code(w.app)
		family := w.granted(w.redeem(w.app, code))
		w.redeem(w.app, code)
		refresh := *family.RefreshToken
		for range 2 {
			w.refresh(w.app, refresh, "scope", refresh, "resource", code)
			w.revoke(w.app, refresh, "token_type_hint", code)
			w.revoke(w.app, family.AccessToken)
		}
		if _, refused := w.server.ReadAuthorization(t.Context(), query(w.app, "scope", refresh, "state", code)); refused == nil {
			t.Error("a token passes for a scope")
		}
		key := access.MintAPIKey(core.Live).Secret
		misplaced := access.MintClientSecret().Secret
		for _, body := range []string{
			"grant_type=client_credentials&client_id=" + misplaced + "&client_secret=" + w.live.secret,
			"grant_type=client_credentials&client_id=" + w.live.ClientID + "&client_secret=" + misplaced,
			"grant_type=" + misplaced,
			"grant_type=client_credentials&client_id=" + w.live.ClientID + "&client_secret=" + w.live.secret + "&scope=" + misplaced,
			"grant_type=client_credentials&client_id=" + w.live.ClientID + "&client_secret=" + w.live.secret + "&scope=api." + misplaced,
			"grant_type=client_credentials&client_id=" + w.live.ClientID + "&client_secret=" + w.live.secret + "&resource=http://" + misplaced,
			"grant_type=client_credentials&client_id=" + w.live.ClientID + "&client_secret=" + w.live.secret + "&client_assertion=" + token,
			misplaced + "=1&" + misplaced + "=2",
			"client_secret=" + misplaced + "&client_secret=" + w.live.secret,
		} {
			for _, header := range []string{"", basic(w.live.ClientID, misplaced), basic(misplaced, w.live.secret), "Bearer " + token, "Basic " + misplaced} {
				r := w.request(http.MethodPost, "/oauth/token", body)
				r.Header.Set("Content-Type", form)
				if header != "" {
					r.Header.Set("Authorization", header)
				}
				if a := w.do(r); strings.Contains(a.body, misplaced) {
					t.Errorf("the answer repeats a secret: %s", a.body)
				}
			}
		}
		r := w.request(http.MethodPost, "/oauth/token?client_secret="+misplaced, "")
		w.do(r)
		for _, credential := range []string{token, token + "x", key, misplaced, w.live.secret} {
			for _, resource := range []access.Resource{access.API, access.Agent} {
				if _, err := w.auth.Authenticate(t.Context(), credential, resource); err != nil && strings.Contains(err.Error(), credential) {
					t.Errorf("the error holds the credential: %v", err)
				}
			}
		}
		text := logged.String()
		for name, secret := range map[string]string{
			"client secret": w.live.secret, "misplaced secret": misplaced, "token": token, "API key": key,
			"code": code, "refresh token": refresh, "person's token": family.AccessToken, "verifier": verifier,
		} {
			if strings.Contains(text, secret) || strings.Contains(text, secret[len(secret)/2:]) {
				t.Errorf("the log holds the %s", name)
			}
		}
		if !strings.Contains(text, w.live.ClientID) || !strings.Contains(text, `"token refused"`) {
			t.Error("the log holds nothing of these requests, so the test proves nothing")
		}
	})
}

// TestStoreFailureIsAnsweredWithoutItsCause checks that a request during a failure of the
// store gets a temporary error. The error must not reveal the cause.
func TestStoreFailureIsAnsweredWithoutItsCause(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		token := w.goodToken(w.live)
		w.must(w.db.Close())
		w.expectError(w.token(w.live), http.StatusServiceUnavailable, "temporarily_unavailable")
		for _, credential := range []string{token, access.MintAPIKey(core.Live).Secret} {
			_, err := w.auth.Authenticate(t.Context(), credential, access.API)
			if refusal := core.AsError(err); err == nil || refusal.Code != core.CodeTemporarilyUnavailable || refusal.Err == nil {
				t.Errorf("authentication without a store: %v", err)
			}
		}
		// The documents need no store.
		if a := w.do(w.request(http.MethodGet, "/.well-known/jwks.json", "")); a.status != http.StatusOK {
			t.Errorf("key set: %d", a.status)
		}
	})
}
