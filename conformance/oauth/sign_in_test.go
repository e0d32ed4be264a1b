package oauth_test

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// visit is a browser that keeps cookies and opens pages of a running product. It does not
// follow redirects.
type visit struct {
	t        *testing.T
	p        *product.Product
	http     *http.Client
	signedIn bool
	// offered are the scopes on the consent page that was shown last.
	offered []string
}

func newVisit(t *testing.T, p *product.Product) *visit {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := *p.HTTP
	client.Jar = jar
	return &visit{t: t, p: p, http: &client}
}

// send opens a page, or posts form if it is not nil. It fails the test unless the answer
// has the given status. It returns the Location header and the body.
func (v *visit) send(status int, address string, form url.Values) (string, string) {
	v.t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	return v.do(status, method, address, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded", "Origin", v.p.AppURL)
}

func (v *visit) do(status int, method, address string, content io.Reader, headers ...string) (string, string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, address, content)
	if err != nil {
		v.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := v.http.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if answer.StatusCode != status {
		v.t.Fatalf("%s %s: %d, want %d: %s", method, address, answer.StatusCode, status, text)
	}
	return answer.Header.Get("Location"), string(text)
}

var formMember = regexp.MustCompile(`<input type="(?:hidden|checkbox)" name="([a-z_]+)" value="([^"]*)"( checked)?`)

// formOf returns the hidden fields and checkboxes of a page's first form, with every
// checkbox selected.
func formOf(page string) url.Values {
	page, _, _ = strings.Cut(page, "</form>")
	form := url.Values{}
	for _, m := range formMember.FindAllStringSubmatch(page, -1) {
		form.Add(m[1], html.UnescapeString(m[2]))
	}
	return form
}

// allow approves an authorization request as the product's user and returns the address of
// the redirect to the client. It signs in first if necessary.
func (v *visit) allow(question string) string {
	v.t.Helper()
	if !v.signedIn {
		v.signIn(question)
	}
	_, page := v.send(http.StatusOK, question, nil)
	form := formOf(page)
	v.offered = form["scope"]
	form.Set("decision", "approve")
	location, _ := v.send(http.StatusSeeOther, v.p.AppURL+"/oauth/authorize", form)
	return location
}

// signIn opens a protected page, follows its redirect to the sign-in page and signs in as
// the product's user.
func (v *visit) signIn(page string) {
	v.t.Helper()
	location, _ := v.send(http.StatusSeeOther, page, nil)
	_, text := v.send(http.StatusOK, v.p.AppURL+location, nil)
	form := formOf(text)
	form.Set("email", v.p.UserEmail)
	form.Set("password", v.p.UserPassword)
	v.send(http.StatusSeeOther, v.p.AppURL+"/login", form)
	v.signedIn = true
}

// application stores a public client of the product's organization.
func application(t *testing.T, p *product.Product) access.Client {
	t.Helper()
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: p.OrgID, Name: "Assistant", Environment: core.Live,
		Scopes: core.NewScopes("api.lists.view", "api.contacts.view"), RedirectURIs: []string{"http://localhost:49152/callback"}, CreatedAt: p.Clock.Now(),
	}
	if err := p.DB.Clients().InsertClient(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPersonAllowsAnAssistant checks the flow of a person with an MCP client: sign-in,
// consent, exchange of the code and a tool call. It ends by signing out everywhere.
func TestPersonAllowsAnAssistant(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		v, client := newVisit(t, p), application(t, p)
		const verifier = "a-verifier-of-forty-three-characters-or-more-1"
		const redirect = "http://localhost:49152/callback"
		question := p.AppURL + "/oauth/authorize?" + url.Values{
			"response_type": {"code"}, "client_id": {client.ClientID}, "redirect_uri": {redirect}, "state": {"xyz"}, "resource": {p.MCPURL},
			"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"},
		}.Encode()

		back, err := url.Parse(v.allow(question))
		if err != nil || !strings.HasPrefix(back.String(), redirect+"?") || back.Query().Get("state") != "xyz" || back.Query().Get("iss") != p.AuthURL {
			t.Fatalf("back to %s, %v", back, err)
		}

		_, body := v.send(http.StatusOK, p.AuthURL+"/oauth/token", url.Values{
			"grant_type": {"authorization_code"}, "client_id": {client.ClientID}, "code": back.Query()["code"],
			"redirect_uri": {redirect}, "code_verifier": {verifier},
		})
		var tokens struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		}
		if err := json.Unmarshal([]byte(body), &tokens); err != nil || tokens.Access == "" || tokens.Refresh == "" {
			t.Fatalf("token answer %s, %v", body, err)
		}
		v.callTool(tokens.Access)

		v.send(http.StatusSeeOther, p.AppURL+"/logout-everywhere", url.Values{})
		location, _ := v.send(http.StatusSeeOther, question, nil)
		if !strings.HasPrefix(location, "/login?") {
			t.Errorf("after signing out: %s", location)
		}
	})
}

func (v *visit) callTool(token string) {
	v.t.Helper()
	_, body := v.do(http.StatusOK, http.MethodPost, v.p.MCPURL+"/mcp",
		bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lists_list","arguments":{}}}`)),
		"Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream",
		"MCP-Protocol-Version", "2025-06-18")
	if !strings.Contains(body, `"structuredContent"`) || strings.Contains(body, `"isError":true`) {
		v.t.Errorf("lists_list: %s", body)
	}
}
