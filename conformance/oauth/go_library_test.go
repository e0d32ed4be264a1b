package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// TestGoLibrary checks that the Go library oauth2 works with a running product: client
// credentials, a person's authorization, and the refresh that the library does by itself.
func TestGoLibrary(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	confidential := confidentialClient(t, p)
	endpoint := oauth2.Endpoint{AuthURL: p.AppURL + "/oauth/authorize", TokenURL: p.AuthURL + "/oauth/token"}
	config := oauth2.Config{
		ClientID: confidential.ClientID, ClientSecret: confidential.Secret, RedirectURL: confidential.Redirect,
		Scopes: strings.Fields(clientScope), Endpoint: endpoint,
	}
	machine := clientcredentials.Config{
		ClientID: confidential.ClientID, ClientSecret: confidential.Secret, TokenURL: endpoint.TokenURL,
		Scopes: strings.Fields(clientScope), EndpointParams: url.Values{"resource": {p.BaseURL}},
	}
	lists := p.BaseURL + "/v1/lists"
	if got := status(t, machine.Client(context.Background()), lists); got != http.StatusOK {
		t.Errorf("the machine's token: %d", got)
	}

	proof := oauth2.GenerateVerifier()
	back, err := url.Parse(newVisit(t, p).allow(
		config.AuthCodeURL("state", oauth2.S256ChallengeOption(proof), oauth2.SetAuthURLParam("resource", p.BaseURL))))
	if err != nil || back.Query().Get("state") != "state" || back.Query().Get("iss") != p.AuthURL {
		t.Fatalf("back to %s, %v", back, err)
	}
	token, err := config.Exchange(context.Background(), back.Query().Get("code"), oauth2.VerifierOption(proof))
	if err != nil {
		t.Fatal(err)
	}
	expired := *token
	expired.Expiry = token.Expiry.AddDate(-1, 0, 0)
	if got := status(t, config.Client(context.Background(), &expired), lists); got != http.StatusOK {
		t.Errorf("after a refresh by the library: %d", got)
	}
	if _, err := config.TokenSource(context.Background(), &expired).Token(); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("a refresh token used twice: %v", err)
	}
	if grants := grantsOf(t, p, config.ClientID); len(grants) != 0 {
		t.Errorf("the replay left %+v", grants)
	}
}

func status(t *testing.T, client *http.Client, address string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}
