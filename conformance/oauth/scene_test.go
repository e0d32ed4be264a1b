package oauth_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/oauth"
)

// scene is a running product with a person, the victim, whose account an attack targets,
// and the OAuth clients that this person uses.
type scene struct {
	t testing.TB
	p *product.Product
	// app is a confidential client with https redirect URIs; native is a public client with
	// loopback redirect URIs.
	app, native registeredClient
	victim      access.User
}

const sceneScopes = "api.contacts.view api.lists.view"

// scenes runs an attack on SQLite and on PostgreSQL.
func scenes(t *testing.T, attack func(t *testing.T, s *scene)) {
	t.Helper()
	product.Each(t, func(t *testing.T, p *product.Product) { attack(t, newScene(t, p)) })
}

// scenesOnce runs an attack on SQLite. In a full test run it also runs on PostgreSQL.
func scenesOnce(t *testing.T, attack func(t *testing.T, s *scene)) {
	t.Helper()
	product.Once(t, func(t *testing.T, p *product.Product) { attack(t, newScene(t, p)) })
}

// oneScene returns a scene on SQLite, for attacks whose result does not depend on the
// database.
func oneScene(t *testing.T) *scene {
	t.Helper()
	return newScene(t, product.Start(t, product.Options{}))
}

func newScene(t testing.TB, p *product.Product) *scene {
	t.Helper()
	s := &scene{t: t, p: p}
	s.app = s.application(p.OrgID, access.MintClientSecret().Secret, callback, "https://app.example/other")
	s.native = s.application(p.OrgID, "", "http://127.0.0.1/cb", "http://localhost/cb")
	var err error
	s.victim, err = p.DB.Users().UserByEmail(t.Context(), p.UserEmail)
	s.must(err)
	return s
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// application stores a client of an organization. With secret "" the client is public.
func (s *scene) application(orgID, secret string, redirects ...string) registeredClient {
	s.t.Helper()
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: orgID, Name: "Courier", Environment: core.Live,
		Scopes: core.NewScopes(strings.Fields(sceneScopes)...), RedirectURIs: redirects, RefreshDays: 30, CreatedAt: s.p.Clock.Now(),
	}
	if secret != "" {
		c.SecretHash = access.HashSecret(secret)
	}
	s.must(s.p.DB.Clients().InsertClient(s.t.Context(), c))
	return registeredClient{Client: c, secret: secret}
}

// selfRegistered stores a client without an organization, as dynamic registration creates
// it. With secret "" the client is public.
func (s *scene) selfRegistered(secret string, redirects ...string) registeredClient {
	s.t.Helper()
	c := selfRegistered(secret, sceneScopes, s.p.Clock.Now(), redirects...)
	s.must(s.p.DB.Clients().InsertClient(s.t.Context(), c.Client))
	return c
}

// browser returns an HTTP client that keeps cookies and follows no redirect.
func (s *scene) browser() *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	s.must(err)
	b := *s.p.HTTP
	b.Jar = jar
	return &b
}

// signedIn returns a browser in which the victim is signed in.
func (s *scene) signedIn() *http.Client {
	s.t.Helper()
	b := s.browser()
	if a := s.signIn(b, s.p.UserEmail, s.p.UserPassword); a.status != http.StatusSeeOther {
		s.t.Fatalf("sign in: %d %s", a.status, a.body)
	}
	return b
}

func (s *scene) signIn(b *http.Client, email, password string, more ...string) answer {
	s.t.Helper()
	form := url.Values{"email": {email}, "password": {password}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return s.submit(b, "/login", form)
}

// submit posts a form to a path of the app, with the Origin header of the app's own pages.
func (s *scene) submit(b *http.Client, path string, values url.Values, headers ...string) answer {
	s.t.Helper()
	headers = append([]string{"Content-Type", form, "Origin", s.p.AppURL}, headers...)
	return s.send(b, http.MethodPost, s.p.AppURL+path, values.Encode(), headers...)
}

func (s *scene) get(b *http.Client, path string) answer {
	s.t.Helper()
	return s.send(b, http.MethodGet, s.p.AppURL+path, "")
}

// send sends a request with headers in pairs of name and value. It fails the test for
// status 307 or 308, with which a browser posts the form again to another address (RFC 9700
// section 4.12).
func (s *scene) send(b *http.Client, method, address, body string, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, strings.NewReader(body))
	s.must(err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return s.do(b, r)
}

func (s *scene) do(b *http.Client, r *http.Request) answer {
	s.t.Helper()
	got, err := b.Do(r)
	s.must(err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	s.must(err)
	if got.StatusCode == http.StatusTemporaryRedirect || got.StatusCode == http.StatusPermanentRedirect {
		s.t.Errorf("%s %s: %d repeats the form at %s", r.Method, r.URL.Path, got.StatusCode, got.Header.Get("Location"))
	}
	a := answer{status: got.StatusCode, header: got.Header, body: string(text)}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		s.must(json.Unmarshal(text, &a))
	}
	return a
}

// consent opens the consent page of an authorization request and returns the fields of its
// form, with every scope selected.
func (s *scene) consent(b *http.Client, query string) url.Values {
	s.t.Helper()
	a := s.get(b, "/oauth/authorize?"+query)
	if a.status != http.StatusOK {
		s.t.Fatalf("consent: %d %s", a.status, a.body)
	}
	return formOf(a.body)
}

// decide submits the consent form with the decision "approve" or "deny" and returns the
// address of the redirect. It fails the test unless the answer forbids caching and sends no
// referrer.
func (s *scene) decide(b *http.Client, query, decision string) *url.URL {
	s.t.Helper()
	values := s.consent(b, query)
	values.Set("decision", decision)
	a := s.submit(b, "/oauth/authorize", values)
	if a.status != http.StatusSeeOther || a.header.Get("Referrer-Policy") != "no-referrer" || a.header.Get("Cache-Control") != "no-store" {
		s.t.Fatalf("decision: %d %v %s", a.status, a.header, a.body)
	}
	u, err := url.Parse(a.header.Get("Location"))
	s.must(err)
	return u
}

// code approves an authorization request as the victim and returns the authorization code.
func (s *scene) code(c registeredClient, pairs ...string) string {
	s.t.Helper()
	u := s.decide(s.signedIn(), query(c, pairs...), "approve")
	if u.Query().Get("code") == "" {
		s.t.Fatalf("no code in %s", u)
	}
	return u.Query().Get("code")
}

// post sends a form with the client's credentials and the given parameters to an endpoint
// of the authorization server.
func (s *scene) post(path string, c registeredClient, pairs ...string) answer {
	s.t.Helper()
	return s.postWith(s.p.HTTP, path, c, pairs...)
}

func (s *scene) postWith(b *http.Client, path string, c registeredClient, pairs ...string) answer {
	s.t.Helper()
	values := url.Values{"client_id": {c.ClientID}}
	if c.secret != "" {
		values.Set("client_secret", c.secret)
	}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return s.send(b, http.MethodPost, s.p.AuthURL+path, values.Encode(), "Content-Type", form)
}

// redeem exchanges a code for tokens. pairs are names and values that replace or extend the
// parameters of a correct request.
func (s *scene) redeem(c registeredClient, code string, pairs ...string) answer {
	s.t.Helper()
	all := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", c.RedirectURIs[0], "code_verifier", verifier}
	return s.post(oauth.TokenPath, c, append(all, pairs...)...)
}

func (s *scene) refresh(c registeredClient, token string, pairs ...string) answer {
	s.t.Helper()
	return s.post(oauth.TokenPath, c, append([]string{"grant_type", "refresh_token", "refresh_token", token}, pairs...)...)
}

// tokens approves a client as the victim, redeems the code and returns the answer with the
// tokens.
func (s *scene) tokens(c registeredClient, pairs ...string) answer {
	s.t.Helper()
	return s.granted(s.redeem(c, s.code(c, pairs...)))
}

func (s *scene) granted(a answer) answer {
	s.t.Helper()
	if a.status != http.StatusOK || a.AccessToken == "" || a.RefreshToken == nil {
		s.t.Fatalf("no tokens: %d %s", a.status, a.body)
	}
	return a
}

// refused checks that the answer has a status of 400 to 499, this OAuth error code and no
// tokens.
func (s *scene) refused(a answer, code string) {
	s.t.Helper()
	if a.status < 400 || a.status >= 500 || a.Error != code || a.AccessToken != "" || a.RefreshToken != nil {
		s.t.Errorf("got %d %s, want %s", a.status, a.body, code)
	}
}

// atAPI and atAgent call the API and the agent endpoint with an access token and return the
// status of the answer.
func (s *scene) atAPI(token string) int {
	s.t.Helper()
	return s.send(s.p.HTTP, http.MethodGet, s.p.BaseURL+"/v1/lists", "", "Authorization", "Bearer "+token).status
}

func (s *scene) atAgent(token string) int {
	s.t.Helper()
	return s.callAgent("", "Authorization", "Bearer "+token).status
}

func (s *scene) callAgent(query string, headers ...string) answer {
	s.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lists_list","arguments":{}}}`
	headers = append(headers, "Content-Type", "application/json", "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2025-06-18")
	return s.send(s.p.HTTP, http.MethodPost, s.p.MCPURL+"/mcp"+query, body, headers...)
}

// checkTokensRefused checks that the answer's access token is refused by the API and its
// refresh token by the token endpoint.
func (s *scene) checkTokensRefused(c registeredClient, a answer) {
	s.t.Helper()
	if got := s.atAPI(a.AccessToken); got != http.StatusUnauthorized {
		s.t.Errorf("the access token still gets %d", got)
	}
	s.refused(s.refresh(c, *a.RefreshToken), "invalid_grant")
}

// checkTokensWork checks that the answer's access token and refresh token both work. It
// returns the new tokens of the refresh.
func (s *scene) checkTokensWork(c registeredClient, a answer) answer {
	s.t.Helper()
	if got := s.atAPI(a.AccessToken); got != http.StatusOK {
		s.t.Errorf("the victim's token gets %d", got)
	}
	return s.granted(s.refresh(c, *a.RefreshToken))
}

// grants returns the number of active grants in the product's two organizations.
func (s *scene) grants() int {
	s.t.Helper()
	sum := 0
	for _, org := range []string{s.p.OrgID, s.p.Other.OrgID} {
		all, err := s.p.DB.Grants().Grants(s.t.Context(), org, access.GrantFilter{Limit: 100})
		s.must(err)
		sum += len(all)
	}
	return sum
}

// person creates a user who owns an organization and has the victim's password.
func (s *scene) person(name, orgID string) access.User {
	s.t.Helper()
	u := access.User{
		ID: core.NewID(), Email: fmt.Sprintf("%s@example.net", name), Name: name,
		PasswordHash: s.victim.PasswordHash, CreatedAt: s.p.Clock.Now(),
	}
	s.must(s.p.DB.Users().InsertUser(s.t.Context(), u))
	s.must(s.p.DB.Members().SetMember(s.t.Context(), members.Member{OrgID: orgID, UserID: u.ID, Role: members.Owner}))
	return u
}

// decode decodes the JSON body of an answer into v.
func (a answer) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}
