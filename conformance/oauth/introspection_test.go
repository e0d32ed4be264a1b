package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth"
)

// ask introspects a token as a client (RFC 7662) and returns the decoded JSON answer.
func (w *world) ask(c registeredClient, token string, pairs ...string) map[string]any {
	w.t.Helper()
	a := w.post(oauth.IntrospectionPath, c, append([]string{"token", token}, pairs...)...)
	var response map[string]any
	if a.status != http.StatusOK || a.header.Get("Cache-Control") != "no-store" || json.Unmarshal([]byte(a.body), &response) != nil {
		w.t.Fatalf("%d %s", a.status, a.body)
	}
	return response
}

func (w *world) expectIntrospection(c registeredClient, token string, want map[string]any) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.ask(c, token)); diff != "" {
		w.t.Errorf("told (-want +got):\n%s", diff)
	}
}

// inactive is the introspection answer for an invalid token, or one that the client may not
// introspect.
var inactive = map[string]any{"active": false}

func TestIntrospectionOfGoodTokens(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		token := w.goodToken(w.live, "scope", "api.contacts.view", "resource", agentResource)
		personal := w.family(w.app)
		for _, asker := range []registeredClient{w.live, w.test, w.app} { // of one organization
			w.expectIntrospection(asker, token, map[string]any{
				"active": true, "scope": "api.contacts.view", "client_id": w.live.ClientID, "sub": w.live.ClientID, "token_type": "Bearer",
				"aud": agentResource, "iss": w.issuer, "jti": w.claimsOf(token, 1)["jti"],
				"iat": float64(start.Unix()), "exp": float64(start.Unix() + 900),
			})
			w.expectIntrospection(asker, personal.AccessToken, map[string]any{
				"active": true, "scope": appScopes, "client_id": w.app.ClientID, "sub": w.ann.UserID, "token_type": "Bearer",
				"aud": apiResource, "iss": w.issuer, "jti": w.claimsOf(personal.AccessToken, 1)["jti"],
				"iat": float64(start.Unix()), "exp": float64(start.Unix() + 900),
			})
			w.expectIntrospection(asker, *personal.RefreshToken, map[string]any{
				"active": true, "scope": appScopes, "client_id": w.app.ClientID, "sub": w.ann.UserID,
				"aud": apiResource, "iss": w.issuer, "iat": float64(start.Unix()), "exp": float64(start.AddDate(0, 0, 30).Unix()),
			})
		}
		w.granted(w.refresh(w.app, *personal.RefreshToken)) // asking used nothing up
	})
}

func TestIntrospectionHidesOtherTokens(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		token, family := w.goodToken(w.live), w.family(w.app)
		for _, foreign := range []string{token, family.AccessToken, *family.RefreshToken} {
			w.expectIntrospection(w.other, foreign, inactive)
		}
		for _, none := range []string{
			"x", "ocr_x", access.MintRefreshToken().Secret, token[:40], token + "x", "eyJ..", w.live.secret, w.live.ClientID,
			w.forge(claim("iss", "https://elsewhere.example")), w.forge(claim("exp", start.Unix())), w.forge(claim("org", w.other.OrgID)),
			w.forge(header("typ", "JWT")), w.forge(header("kid", core.NewID())),
		} {
			w.expectIntrospection(w.live, none, inactive)
		}
		next := w.granted(w.refresh(w.app, *family.RefreshToken))
		w.expectIntrospection(w.live, *family.RefreshToken, inactive) // used up
		w.expectRevoked(t, w.revoke(w.live, token))
		w.expectIntrospection(w.live, token, inactive)
		w.expectRevoked(t, w.revoke(w.app, *next.RefreshToken))
		for _, ended := range []string{family.AccessToken, next.AccessToken, *next.RefreshToken} {
			w.expectIntrospection(w.live, ended, inactive)
		}

		token, family = w.goodToken(w.live), w.family(w.app)
		w.advance(signing.AccessTokenLifetime)
		w.expectIntrospection(w.live, token, inactive)
		w.expectIntrospection(w.live, family.AccessToken, inactive)
		w.advance(30*24*time.Hour - signing.AccessTokenLifetime)
		w.expectIntrospection(w.live, *family.RefreshToken, inactive)
	})
}

// TestIntrospectionTellsWhatIsInForce checks that introspection reads current permissions
// from the store, although this process has cached older ones.
func TestIntrospectionTellsWhatIsInForce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		bob := w.person(w.app.OrgID, "bob", members.PlainMember, members.MayViewAccount, members.MayViewContacts)
		family := w.granted(w.redeem(w.app, w.codeFor(bob, w.app)))
		tokens := []string{family.AccessToken, *family.RefreshToken}
		expectScope := func(want any) {
			t.Helper()
			for _, token := range tokens {
				if response := w.ask(w.live, token); response["scope"] != want || response["active"] != true {
					t.Errorf("told %v, want %v", response, want)
				}
			}
		}
		w.expectScopes(t, family.AccessToken, "api.account.view api.contacts.view")
		expectScope("api.account.view api.contacts.view")
		bob.Permissions = []members.Permission{members.MayViewAccount, members.MayManageContacts}
		w.must(w.db.Members().SetMember(t.Context(), bob))
		expectScope("api.account.view")
		bob.Permissions = nil
		w.must(w.db.Members().SetMember(t.Context(), bob))
		expectScope(nil)
		w.must(w.db.Members().RemoveMember(t.Context(), bob.OrgID, bob.UserID))
		for _, token := range tokens {
			w.expectIntrospection(w.live, token, inactive)
		}

		family = w.family(w.app)
		w.must(w.db.Clients().RevokeClient(t.Context(), w.app.OrgID, w.app.ID, w.clock()))
		w.expectIntrospection(w.live, family.AccessToken, inactive)
		w.expectIntrospection(w.live, *family.RefreshToken, inactive)
		w.expectError(w.post(oauth.IntrospectionPath, w.app, "token", family.AccessToken), http.StatusUnauthorized, "invalid_client")
	})
}

func TestIntrospectionRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		token := w.goodToken(w.live)
		post := func(body string, headers ...string) answer {
			r := w.request(http.MethodPost, oauth.IntrospectionPath, body)
			r.Header.Set("Content-Type", form)
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			return w.do(r)
		}
		in, good := "token="+token, basic(w.live.ClientID, w.live.secret)
		if a := post(in + w.live.inBody()); a.status != http.StatusOK || !strings.Contains(a.body, `"active":true`) {
			t.Errorf("with the secret in the body: %d %s", a.status, a.body)
		}
		if a := post(in+"&token_type_hint=refresh_token", "Authorization", good); a.status != http.StatusOK || !strings.Contains(a.body, `"active":true`) {
			t.Errorf("with Basic and a wrong hint: %d %s", a.status, a.body)
		}
		w.expectError(post(in), http.StatusUnauthorized, "invalid_client")
		w.expectError(post(in, "Authorization", "Bearer "+token), http.StatusUnauthorized, "invalid_client")
		w.expectError(post(in+"&client_id="+w.live.ClientID), http.StatusUnauthorized, "invalid_client")
		w.expectError(post(in, "Authorization", basic(w.live.ClientID, "ocs_x")), http.StatusUnauthorized, "invalid_client")
		w.expectError(post(in, "Authorization", basic(w.revoked.ClientID, w.revoked.secret)), http.StatusUnauthorized, "invalid_client")
		for _, public := range []registeredClient{w.native, w.public} {
			w.expectError(w.post(oauth.IntrospectionPath, public, "token", token), http.StatusUnauthorized, "invalid_client")
			w.expectError(post(in, "Authorization", basic(public.ClientID, "x")), http.StatusUnauthorized, "invalid_client")
		}
		w.expectError(post(in+w.live.inBody(), "Authorization", good), http.StatusBadRequest, "invalid_request")
		w.expectError(post(in+"&"+in, "Authorization", good), http.StatusBadRequest, "invalid_request")
		w.expectError(post("token=", "Authorization", good), http.StatusBadRequest, "invalid_request")
		w.expectError(post("{}", "Authorization", good, "Content-Type", "application/json"), http.StatusBadRequest, "invalid_request")
		query := oauth.IntrospectionPath + "?" + url.Values{"token": {token}}.Encode()
		w.expectError(w.do(w.request(http.MethodGet, query, "")), http.StatusMethodNotAllowed, "invalid_request")
		w.expectError(w.do(w.request(http.MethodPost, query, "")), http.StatusBadRequest, "invalid_request")
	})
}

func TestIntrospectionCanBeOff(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		off := w.config
		off.Introspection = false
		server, err := oauth.New(off)
		w.must(err)
		for path, status := range map[string]int{oauth.IntrospectionPath: 404, oauth.MetadataPath: 200} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
				if path == oauth.MetadataPath && method != http.MethodGet {
					continue
				}
				answer := httptest.NewRecorder()
				server.Handler().ServeHTTP(answer, httptest.NewRequest(method, path, nil))
				if answer.Code != status || strings.Contains(answer.Body.String(), "introspect") {
					t.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
				}
			}
		}
	})
}
