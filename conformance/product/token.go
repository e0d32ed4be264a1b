package product

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/tools"
)

// ToolScopes returns the scopes that the tools of the agent endpoint need, sorted. They are
// not all scopes, because some are only for operations that no tool has.
func ToolScopes() core.Scopes {
	return catalogue.NeededScopes(slices.DeleteFunc(catalogue.Operations(catalogue.Domains{}), func(op core.Operation) bool {
		return !slices.Contains(tools.Table(), op.Info().Name)
	}))
}

// Token returns an access token of the demo organization's live client. resource is the
// host for which the token is valid: BaseURL or MCPURL. Without scopes the token has all
// scopes of the client. Token uses the client credentials grant (RFC 6749, section 4.4),
// and fails the test if the server refuses.
func (p *Product) Token(t testing.TB, resource string, scopes ...string) string {
	t.Helper()
	return p.TokenWith(t, p.Live, resource, scopes...)
}

// TokenWith returns an access token of the OAuth client with the given credentials.
// resource and scopes are those of [Product.Token].
func (p *Product) TokenWith(t testing.TB, c Credentials, resource string, scopes ...string) string {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.AuthURL+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(c.ClientID, c.ClientSecret)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatalf("product: token: %v", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("product: token: %v", err)
	}
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &issued); err != nil || answer.StatusCode != http.StatusOK || issued.AccessToken == "" {
		t.Fatalf("product: token: status %d: %s", answer.StatusCode, body)
	}
	return issued.AccessToken
}
