package attacks_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestPagesCannotWrite checks that the API refuses bodies with the content types of HTML
// forms. It also checks that a method parameter or header in a GET or POST request does not
// change the method. A page of any site can make a browser send such forms without a CORS
// preflight.
func TestPagesCannotWrite(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	api, agent := caller{p, p.Live.APIKey}, caller{p, p.Token(t, p.MCPURL)}
	for _, form := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; x=application/json", ""} {
		got := api.rest(t, "POST", "/v1/contacts", `{"email":"page@example.com"}`, "Content-Type", form)
		if got.want(t, 422).problem(t).Code != "validation_failed" {
			t.Errorf("%q: %.200s", form, got.body)
		}
		agent.tool(t, "contacts_upsert", `{"email":"page@example.com"}`, "Content-Type", form).want(t, http.StatusUnsupportedMediaType)
	}
	api.rest(t, "POST", "/v1/contacts?_method=DELETE", `{"email":"page@example.com"}`).want(t, 422)
	api.rest(t, "GET", "/v1/contacts/"+p.Contact, "", "X-Http-Method-Override", "DELETE").want(t, 200)
	api.rest(t, "GET", "/v1/contacts/page@example.com", "").want(t, 404)
	api.rest(t, "GET", "/v1/contacts/"+p.Contact, "").want(t, 200)
}

// TestCredentialsElsewhereAreNotSeen checks that credentials are accepted as a bearer token
// in the Authorization header only. A cookie would be sent by browsers even if the page of
// another site causes the request. A query string would be logged.
func TestCredentialsElsewhereAreNotSeen(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	nobody := caller{Product: p}
	nobody.rest(t, "GET", "/v1/account?access_token="+p.Live.APIKey, "").want(t, 401)
	nobody.rest(t, "GET", "/v1/account", "", "Cookie", "Authorization=Bearer "+p.Live.APIKey).want(t, 401)
	nobody.rest(t, "GET", "/v1/account", "", "X-Api-Key", p.Live.APIKey).want(t, 401)
	nobody.rest(t, "GET", "/v1/account", "", "Proxy-Authorization", "Bearer "+p.Live.APIKey).want(t, 401)
	nobody.rest(t, "GET", "/v1/account", "", "Authorization", "Basic "+p.Live.APIKey).want(t, 401)
}

// TestOtherOriginsReadNothing checks that web pages of other origins cannot read answers of
// the public API, the admin host and the fetch host. The MCP endpoint must refuse requests
// of such origins, even if the host name of the origin resolves to this machine.
func TestOtherOriginsReadNothing(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{AllowedOrigins: []string{"https://inspector.example"}})
	api, agent := caller{p, p.Live.APIKey}, caller{p, p.Token(t, p.MCPURL)}
	for _, origin := range []string{"https://evil.example", "null", "http://localhost:1", "https://inspector.example.evil.org", "https://INSPECTOR.example", "file://"} {
		for name, got := range map[string]reply{
			"api":          api.rest(t, "GET", "/v1/account", "", "Origin", origin),
			"api question": api.rest(t, "OPTIONS", "/v1/account", "", "Origin", origin, "Access-Control-Request-Method", "GET"),
			"admin":        caller{Product: p}.send(t, "GET", p.AdminURL+"/metrics", "", "Origin", origin),
			"fetch":        caller{Product: p}.send(t, "GET", p.FetchURL+"/_health", "", "Origin", origin),
		} {
			if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != "" {
				t.Errorf("%s lets %s read: %s", name, origin, allowed)
			}
		}
		agent.tool(t, "lists_list", `{}`, "Origin", origin).want(t, http.StatusForbidden)
	}
	agent.tool(t, "lists_list", `{}`, "Origin", "https://inspector.example").want(t, 200)
	token := caller{Product: p}.send(t, "POST", p.AuthURL+"/oauth/token", "grant_type=client_credentials", "Content-Type", "application/x-www-form-urlencoded", "Origin", "https://evil.example")
	if token.want(t, 401).header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("the token endpoint lets pages use the browser's credentials")
	}
}

// TestPagesShowNoMarkupOfTheCaller checks that the product's pages escape HTML markup that
// a caller writes into the path or query of a request.
func TestPagesShowNoMarkupOfTheCaller(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	nobody := caller{Product: p}
	const markup = "<script>alert(1)</script>"
	for _, address := range []string{
		p.DocsURL + "/%3Cscript%3Ealert(1)%3C/script%3E", p.DocsURL + "/api/errors/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
		p.DocsURL + "/?q=%3Cscript%3Ealert(1)%3C/script%3E", p.AppURL + "/%3Cscript%3Ealert(1)%3C/script%3E",
		p.BaseURL + "/%3Cscript%3Ealert(1)%3C/script%3E", p.FetchURL + "/%3Cscript%3Ealert(1)%3C/script%3E",
	} {
		if got := nobody.send(t, "GET", address, ""); strings.Contains(got.body, markup) {
			t.Errorf("%s: %.200s", address, got.body)
		}
	}
}
