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

// appScopes has the scopes that the test clients are registered for.
const appScopes = "api.account.view api.contacts.manage api.contacts.view"

var verifier = strings.Repeat("v", 43)

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// application stores a client of an organization, for authorization by people. With secret
// "" the client is public.
func (w *world) application(orgID, secret string, redirects ...string) registeredClient {
	w.t.Helper()
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: orgID, Name: "application", Environment: core.Live,
		Scopes: core.NewScopes(strings.Fields(appScopes)...), RedirectURIs: redirects, RefreshDays: 30, CreatedAt: w.clock(),
	}
	if secret != "" {
		c.SecretHash = access.HashSecret(secret)
	}
	w.must(w.db.Clients().InsertClient(w.t.Context(), c))
	return registeredClient{Client: c, secret: secret}
}

// selfRegistered returns a client without an organization, as dynamic registration creates
// it. With secret "" the client is public.
func selfRegistered(secret, scopes string, at time.Time, redirects ...string) registeredClient {
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), Name: "application", Environment: core.Live, Kind: access.DynamicClient,
		Scopes: core.NewScopes(strings.Fields(scopes)...), RedirectURIs: redirects, RefreshDays: 30, CreatedAt: at,
	}
	if secret != "" {
		c.SecretHash = access.HashSecret(secret)
	}
	return registeredClient{Client: c, secret: secret}
}

// selfRegistered stores a client without an organization, as dynamic registration creates
// it. With secret "" the client is public.
func (w *world) selfRegistered(secret string, redirects ...string) registeredClient {
	w.t.Helper()
	c := selfRegistered(secret, appScopes, w.clock(), redirects...)
	w.must(w.db.Clients().InsertClient(w.t.Context(), c.Client))
	return c
}

// person creates a user and makes them a member of an organization, with a role and
// permissions.
func (w *world) person(orgID, name string, role members.Role, may ...members.Permission) members.Member {
	w.t.Helper()
	m := members.Member{OrgID: orgID, UserID: core.NewID(), Role: role, Permissions: may}
	w.must(w.db.Users().InsertUser(w.t.Context(), access.User{ID: m.UserID, Email: name + "@example.com", Name: name, CreatedAt: w.clock()}))
	w.must(w.db.Members().SetMember(w.t.Context(), m))
	return m
}

// query returns the query string of a correct authorization request of a client. pairs are
// names and values that replace or add parameters; the value "-" removes one.
func query(c registeredClient, pairs ...string) string {
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

// authorization parses an authorization request of a client. It fails the test if the
// server refuses the request.
func (w *world) authorization(c registeredClient, pairs ...string) oauth.AuthorizationRequest {
	w.t.Helper()
	request, refused := w.server.ReadAuthorization(context.Background(), query(c, pairs...))
	if refused != nil {
		w.t.Fatalf("%+v", refused)
	}
	return request
}

// code returns an authorization code after the user ann has approved all requested scopes.
func (w *world) code(c registeredClient, pairs ...string) string {
	w.t.Helper()
	return w.codeFor(w.ann, c, pairs...)
}

func (w *world) codeFor(m members.Member, c registeredClient, pairs ...string) string {
	w.t.Helper()
	redirect, err := w.server.Approve(context.Background(), w.authorization(c, pairs...), m, core.AllScopes())
	w.must(err)
	u, err := url.Parse(redirect)
	w.must(err)
	return u.Query().Get("code")
}

// post sends a form with the given parameters to an endpoint. A confidential client
// authenticates with HTTP Basic; a public client sends its client_id in the form.
func (w *world) post(path string, c registeredClient, pairs ...string) answer {
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

func (w *world) redeem(c registeredClient, code string, pairs ...string) answer {
	w.t.Helper()
	values := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", c.RedirectURIs[0], "code_verifier", verifier}
	return w.post(oauth.TokenPath, c, append(values, pairs...)...)
}

func (w *world) refresh(c registeredClient, token string, pairs ...string) answer {
	w.t.Helper()
	return w.post(oauth.TokenPath, c, append([]string{"grant_type", "refresh_token", "refresh_token", token}, pairs...)...)
}

func (w *world) revoke(c registeredClient, token string, pairs ...string) answer {
	w.t.Helper()
	return w.post(oauth.RevocationPath, c, append([]string{"token", token}, pairs...)...)
}

// family approves a client as the user ann, redeems the code and returns the answer with
// the access token and the refresh token.
func (w *world) family(c registeredClient, pairs ...string) answer {
	w.t.Helper()
	return w.granted(w.redeem(c, w.code(c, pairs...)))
}

// granted returns its argument. It fails the test unless the answer has an access token and
// a refresh token.
func (w *world) granted(a answer) answer {
	w.t.Helper()
	if a.status != http.StatusOK || a.AccessToken == "" || a.RefreshToken == nil || !access.IsRefreshToken(*a.RefreshToken) {
		w.t.Fatalf("no tokens: %d %s", a.status, a.body)
	}
	return a
}

// accepted reports whether the API accepts an access token now.
func (w *world) accepted(token string) bool {
	w.t.Helper()
	_, err := w.auth.Authenticate(context.Background(), token, access.API)
	return err == nil
}

// expectEnded checks that the answer's access token is refused by the API and its refresh
// token by the token endpoint.
func (w *world) expectEnded(c registeredClient, a answer) {
	w.t.Helper()
	if w.accepted(a.AccessToken) {
		w.t.Error("the access token is still accepted")
	}
	w.expectError(w.refresh(c, *a.RefreshToken), http.StatusBadRequest, "invalid_grant")
}
