package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/oauth"
)

const (
	callback = "https://app.example/cb"
	loopback = "http://127.0.0.1/cb"
)

// appScopes is what the applications of a world are registered for.
const appScopes = "api.account.view api.contacts.manage api.contacts.view"

var verifier = strings.Repeat("v", 43)

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// application registers a client that people authorize; without a secret it is
// public.
func (w *world) application(orgID, secret string, redirects ...string) registered {
	w.t.Helper()
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: orgID, Name: "application", Environment: core.Live,
		Scopes: core.NewScopes(strings.Fields(appScopes)...), RedirectURIs: redirects, RefreshDays: 30, CreatedAt: w.clock(),
	}
	if secret != "" {
		c.SecretHash = access.HashSecret(secret)
	}
	w.must(w.db.Clients().InsertClient(w.t.Context(), c))
	return registered{Client: c, secret: secret}
}

// selfRegistered stores a client without an organization, like dynamic registration.
// Without a secret it is public.
func selfRegistered(secret, scopes string, at time.Time, redirects ...string) registered {
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), Name: "application", Environment: core.Live, Kind: access.DynamicClient,
		Scopes: core.NewScopes(strings.Fields(scopes)...), RedirectURIs: redirects, RefreshDays: 30, CreatedAt: at,
	}
	if secret != "" {
		c.SecretHash = access.HashSecret(secret)
	}
	return registered{Client: c, secret: secret}
}

// selfRegistered stores a client that registered itself.
func (w *world) selfRegistered(secret string, redirects ...string) registered {
	w.t.Helper()
	c := selfRegistered(secret, appScopes, w.clock(), redirects...)
	w.must(w.db.Clients().InsertClient(w.t.Context(), c.Client))
	return c
}

// person makes a member of an organization.
func (w *world) person(orgID, name string, role members.Role, may ...members.Permission) members.Member {
	w.t.Helper()
	m := members.Member{OrgID: orgID, UserID: core.NewID(), Role: role, Permissions: may}
	w.must(w.db.Users().InsertUser(w.t.Context(), access.User{ID: m.UserID, Email: name + "@example.com", Name: name, CreatedAt: w.clock()}))
	w.must(w.db.Members().SetMember(w.t.Context(), m))
	return m
}

// query returns an authorization request of a client, changed by pairs of name and value.
// The value "-" removes a parameter.
func query(c registered, pairs ...string) string {
	values := url.Values{
		"response_type": {"code"}, "client_id": {c.ClientID}, "redirect_uri": {c.RedirectURIs[0]}, "state": {"s 1&"},
		"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "-" {
			values.Del(pairs[i])
		}
	}
	return values.Encode()
}

// authorization reads an authorization request that must be good.
func (w *world) authorization(c registered, pairs ...string) oauth.AuthorizationRequest {
	w.t.Helper()
	request, refused := w.server.ReadAuthorization(context.Background(), query(c, pairs...))
	if refused != nil {
		w.t.Fatalf("%+v", refused)
	}
	return request
}

// code returns an authorization code that ann approved with all requested scopes.
func (w *world) code(c registered, pairs ...string) string {
	w.t.Helper()
	return w.codeFor(w.ann, c, pairs...)
}

func (w *world) codeFor(m members.Member, c registered, pairs ...string) string {
	w.t.Helper()
	redirect, err := w.server.Approve(context.Background(), w.authorization(c, pairs...), m, core.AllScopes())
	w.must(err)
	u, err := url.Parse(redirect)
	w.must(err)
	return u.Query().Get("code")
}

// post sends parameters to an endpoint. A confidential client uses HTTP Basic; a public
// one sends its id in the body.
func (w *world) post(path string, c registered, pairs ...string) answer {
	w.t.Helper()
	values := url.Values{}
	if c.secret == "" {
		values.Set("client_id", c.ClientID)
	}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	r := w.request(http.MethodPost, path, values.Encode())
	r.Header.Set("Content-Type", form)
	if c.secret != "" {
		r.SetBasicAuth(c.ClientID, c.secret)
	}
	return w.do(r)
}

func (w *world) redeem(c registered, code string, pairs ...string) answer {
	w.t.Helper()
	values := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", c.RedirectURIs[0], "code_verifier", verifier}
	return w.post(oauth.TokenPath, c, append(values, pairs...)...)
}

func (w *world) refresh(c registered, token string, pairs ...string) answer {
	w.t.Helper()
	return w.post(oauth.TokenPath, c, append([]string{"grant_type", "refresh_token", "refresh_token", token}, pairs...)...)
}

func (w *world) revoke(c registered, token string, pairs ...string) answer {
	w.t.Helper()
	return w.post(oauth.RevocationPath, c, append([]string{"token", token}, pairs...)...)
}

// family lets ann approve a client and returns the answer with the two tokens.
func (w *world) family(c registered, pairs ...string) answer {
	w.t.Helper()
	return w.granted(w.redeem(c, w.code(c, pairs...)))
}

// granted returns the answer. It fails the test unless the answer has both tokens.
func (w *world) granted(a answer) answer {
	w.t.Helper()
	if a.status != http.StatusOK || a.AccessToken == "" || a.RefreshToken == nil || !access.IsRefreshToken(*a.RefreshToken) {
		w.t.Fatalf("no tokens: %d %s", a.status, a.body)
	}
	return a
}

// accepted reports whether the API accepts an access token at present.
func (w *world) accepted(token string) bool {
	w.t.Helper()
	_, err := w.auth.Authenticate(context.Background(), token, access.API)
	return err == nil
}

// expectEnded checks that the API refuses the access token, and the token endpoint the
// refresh token.
func (w *world) expectEnded(c registered, a answer) {
	w.t.Helper()
	if w.accepted(a.AccessToken) {
		w.t.Error("the access token is still accepted")
	}
	w.expectError(w.refresh(c, *a.RefreshToken), http.StatusBadRequest, "invalid_grant")
}
