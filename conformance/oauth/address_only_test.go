package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/oauth/inspector"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgotypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// The tests of this file and of bridge_test.go connect third-party clients that know only
// the address of the agent endpoint. They find the authorization server, register
// themselves, and get the consent of a person. The clients of Node.js are in
// mcp_clients_test.go.

// accessLife is the lifetime of access tokens.
const accessLife = 15 * time.Minute

// liveAnHour calls a tool, moves the clock of the product by an hour in steps of the
// lifetime of access tokens, and calls the tool after each step. The grants that the client
// then has are revoked, and ended checks that the client notices.
func liveAnHour(t *testing.T, p *product.Product, call func() error, ended func()) {
	t.Helper()
	for passed := time.Duration(0); passed <= time.Hour; passed += accessLife {
		if err := call(); err != nil {
			t.Fatalf("after %v: %v", passed, err)
		}
		p.Clock.Advance(accessLife)
	}
	grants := grantsOf(t, p, "")
	if len(grants) != 1 {
		t.Fatalf("%d grants, want 1: the client asked the person more than once", len(grants))
	}
	if _, err := p.DB.Grants().RevokeGrantsOf(t.Context(), p.OrgID, grants[0].ClientID, p.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	p.Clock.Advance(accessLife) // no token of the grant is valid, or cached as valid, any more
	ended()
}

// checkOffered fails the test unless the last consent page listed exactly these scopes.
func (v *visit) checkOffered(want []string) {
	v.t.Helper()
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(v.offered))); diff != "" || len(want) >= len(core.AllScopes()) {
		v.t.Errorf("scopes on the consent page (-want +got):\n%s", diff)
	}
}

// returned has the parameters with which the browser comes back to a client.
func returned(t *testing.T, v *visit, question string) url.Values {
	t.Helper()
	back, err := url.Parse(v.allow(question))
	if err != nil {
		t.Fatal(err)
	}
	return back.Query()
}

// clockedTokens refreshes a token when it ends by the clock of the product. The library's
// own source reads the clock of the machine.
type clockedTokens struct {
	p         *product.Product
	renew     func(refresh string) (*oauth2.Token, error)
	token     *oauth2.Token
	until     time.Time
	refreshes int
}

// Token implements [oauth2.TokenSource].
func (s *clockedTokens) Token() (*oauth2.Token, error) {
	if s.p.Clock.Now().Before(s.until) {
		return s.token, nil
	}
	next, err := s.renew(s.token.RefreshToken)
	if err != nil {
		return s.token, nil //nolint:nilerr // the endpoint refuses the old token, and the client asks the person
	}
	s.token, s.until = next, s.p.Clock.Now().Add(accessLife)
	s.refreshes++
	return next, nil
}

// TestGoSDKConnects checks the official Go SDK with its own OAuth client.
func TestGoSDKConnects(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{DynamicRegistration: true})
	v := newVisit(t, p)
	asked := 0
	var source *clockedTokens
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "go-sdk", RedirectURIs: []string{nativeURI}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			asked++
			q := returned(t, v, args.URL)
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
		Client: p.HTTP,
		NewTokenSource: func(ctx context.Context, config *oauth2.Config, first *oauth2.Token) (oauth2.TokenSource, error) {
			source = &clockedTokens{p: p, token: first, until: p.Clock.Now().Add(accessLife), renew: func(refresh string) (*oauth2.Token, error) {
				return config.TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
			}}
			return source, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1.0.0"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: p.MCPURL + "/mcp", HTTPClient: p.HTTP, OAuthHandler: handler, DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // the test is over
	call := func() error { return callLists(t, session) }
	v.checkOffered(product.ToolScopes().Strings())
	liveAnHour(t, p, call, func() {
		if source.refreshes != 4 || asked != 1 {
			t.Errorf("%d refreshes and %d questions in an hour", source.refreshes, asked)
		}
		if err := call(); err != nil || asked != 2 {
			t.Errorf("after the end of the grant: %v, %d questions", err, asked)
		}
	})
}

// callLists calls a tool with the official Go SDK.
func callLists(t *testing.T, session *mcp.ClientSession) error {
	t.Helper()
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "lists_list", Arguments: map[string]any{}})
	if err == nil && (got.IsError || got.StructuredContent == nil) {
		err = fmt.Errorf("lists_list: %+v", got.Content)
	}
	return err
}

// shiftedStore is a token store whose tokens end by the clock of the product, although the
// library reads the clock of the machine.
type shiftedStore struct {
	p     *product.Product
	token *transport.Token
	until time.Time
	saved int
}

// GetToken implements [transport.TokenStore].
func (s *shiftedStore) GetToken(context.Context) (*transport.Token, error) {
	if s.token == nil {
		return nil, transport.ErrNoToken
	}
	shifted := *s.token
	shifted.ExpiresAt = time.Now().Add(s.until.Sub(s.p.Clock.Now()))
	return &shifted, nil
}

// SaveToken implements [transport.TokenStore].
func (s *shiftedStore) SaveToken(_ context.Context, token *transport.Token) error {
	s.token, s.until = token, s.p.Clock.Now().Add(accessLife)
	s.saved++
	return nil
}

// TestMCPGoConnects checks the library mcp-go with its own OAuth client. The library
// requests the scopes of its configuration and does not read those of a challenge.
func TestMCPGoConnects(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{DynamicRegistration: true})
	v, store := newVisit(t, p), &shiftedStore{p: p}
	client, err := mcpgo.NewOAuthStreamableHttpClient(p.MCPURL+"/mcp", mcpgo.OAuthConfig{
		RedirectURI: nativeURI, TokenStore: store, PKCEEnabled: true, HTTPClient: p.HTTP,
	}, transport.WithHTTPBasicClient(p.HTTP))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // the test is over
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	start := mcpgotypes.InitializeRequest{Params: mcpgotypes.InitializeParams{
		ProtocolVersion: "2025-11-25", ClientInfo: mcpgotypes.Implementation{Name: "conformance", Version: "1.0.0"},
	}}
	_, err = client.Initialize(t.Context(), start)
	authorizeMCPGo(t, v, err)
	if _, err := client.Initialize(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	call := func() error {
		got, err := client.CallTool(t.Context(), mcpgotypes.CallToolRequest{Params: mcpgotypes.CallToolParams{Name: "lists_list", Arguments: map[string]any{}}})
		if err == nil && (got.IsError || got.StructuredContent == nil) {
			err = fmt.Errorf("lists_list: %+v", got.Content)
		}
		return err
	}
	liveAnHour(t, p, call, func() {
		if store.saved != 5 {
			t.Errorf("%d tokens in an hour, want the first and 4 refreshes", store.saved)
		}
		authorizeMCPGo(t, v, call())
		if err := call(); err != nil {
			t.Errorf("after another sign-in: %v", err)
		}
	})
}

// authorizeMCPGo lets the person answer the request that mcp-go makes with an error.
func authorizeMCPGo(t *testing.T, v *visit, required error) {
	t.Helper()
	handler := mcpgo.GetOAuthHandler(required)
	if handler == nil {
		t.Fatalf("no request for an authorization: %v", required)
	}
	if handler.GetClientID() == "" {
		if err := handler.RegisterClient(t.Context(), "mcp-go"); err != nil {
			t.Fatal(err)
		}
	}
	proof, err := mcpgo.GenerateCodeVerifier()
	if err != nil {
		t.Fatal(err)
	}
	question, err := handler.GetAuthorizationURL(t.Context(), "state", mcpgo.GenerateCodeChallenge(proof))
	if err != nil {
		t.Fatal(err)
	}
	q := returned(t, v, question)
	if err := handler.ProcessAuthorizationResponse(t.Context(), q.Get("code"), q.Get("state"), proof); err != nil {
		t.Fatal(err)
	}
}

// TestInspectorConnects checks the command line of the MCP Inspector. It signs in by itself;
// the test is the person at the browser. Each run of the program makes one call, so an hour
// is a run at its start and one at its end. The runs share a file with the tokens.
func TestInspectorConnects(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{DynamicRegistration: true})
	v := newVisit(t, p)
	asked := 0
	visit := func(question string) {
		asked++
		follow(t, p, v.allow(question))
	}
	home, callback := t.TempDir(), fmt.Sprintf("http://127.0.0.1:%d/oauth/callback", freePort(t))
	// call runs the program, which must answer, and checks how often it has asked the person.
	call := func(questions int, more ...string) {
		t.Helper()
		got := inspector.Run(t, home, visit, append([]string{
			p.MCPURL + "/mcp", "--transport", "http", "--callback-url", callback, "--method", "tools/call", "--tool-name", "lists_list",
		}, more...)...)
		if asked != questions || !strings.Contains(got, `"structuredContent"`) {
			t.Errorf("%d questions, want %d: %s", asked, questions, got)
		}
	}
	call(1)
	v.checkOffered(product.ToolScopes().Strings())
	first := grantsOf(t, p, "")
	p.Clock.Advance(time.Hour)
	call(1, "--stored-auth-only") // by a refresh: the access token has ended
	if grants := grantsOf(t, p, ""); len(first) != 1 || len(grants) != 1 || grants[0].ID != first[0].ID {
		t.Errorf("grants %+v, then %+v", first, grants)
	}
	if _, err := p.DB.Grants().RevokeGrantsOf(t.Context(), p.OrgID, first[0].ClientID, p.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	p.Clock.Advance(accessLife) // no token of the grant is valid, or cached as valid, any more
	call(2)
	// A program that has a token needs no sign-in.
	token := machineToken(t, p)
	got := inspector.Run(t, t.TempDir(), visit, p.MCPURL+"/mcp", "--transport", "http", "--header", "Authorization: Bearer "+token, "--method", "tools/list")
	if asked != 2 || !strings.Contains(got, `"lists_list"`) {
		t.Errorf("%d questions: %s", asked, got)
	}
}

// machineToken returns a token of the agent endpoint by client credentials.
func machineToken(t *testing.T, p *product.Product) string {
	t.Helper()
	c := confidentialClient(t, p)
	g := newVisit(t, p)
	_, body := g.send(http.StatusOK, p.AuthURL+"/oauth/token", url.Values{
		"grant_type": {"client_credentials"}, "resource": {p.MCPURL}, "client_id": {c.ClientID}, "client_secret": {c.Secret}, "scope": {"api.lists.view"},
	})
	_, rest, _ := strings.Cut(body, `"access_token":"`)
	token, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatal(body)
	}
	return token
}
