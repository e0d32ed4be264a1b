package oauth_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/oauth/clients"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const (
	// clientScope has the scopes that the third-party clients request.
	clientScope = "api.contacts.view api.lists.view"
	nativeURI   = "http://127.0.0.1:49152/callback"
)

// libraryTask is the input of a Node.js program that tests an OAuth library.
type libraryTask struct {
	Issuer       string           `json:"issuer"`
	API          string           `json:"api"`
	MCP          string           `json:"mcp"`
	Scope        string           `json:"scope"`
	Way          string           `json:"way"` // client authentication: basic, post or none (public)
	Confidential clientCredential `json:"confidential"`
	Public       clientCredential `json:"public"`
}

type clientCredential struct {
	ClientID string `json:"client_id"`
	Secret   string `json:"client_secret,omitempty"`
	Redirect string `json:"redirect_uri"`
}

// librarySight is the report of a Node.js program that tests an OAuth library.
type librarySight struct {
	Scope                string `json:"scope"`
	Audience             string `json:"audience"`
	Rotated              bool   `json:"rotated"`
	Call                 any    `json:"call"`
	CallWithRevoked      any    `json:"callWithRevoked"`
	RefreshWithRevoked   string `json:"refreshWithRevoked"`
	CallAfterRevocation  any    `json:"callAfterRevocation"`
	MachineCall          any    `json:"machineCall"`
	MachineRefreshes     bool   `json:"machineRefreshes"`
	TokenOfOtherResource any    `json:"tokenOfAnotherResource"`
	UnknownResource      string `json:"unknownResource"`
}

// TestLibrariesOfOthers checks that two third-party OAuth libraries can use all functions
// of the server: discovery, code with PKCE, state, iss, refresh, revocation, client
// credentials and resource indicators.
func TestLibrariesOfOthers(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	for _, program := range []string{"oauth4webapi.mjs", "openid_client.mjs"} {
		for _, way := range []string{"basic", "post", "none"} {
			t.Run(program+" "+way, func(t *testing.T) {
				t.Parallel()
				confidential, public := confidentialClient(t, p), publicClient(t, p)
				var got librarySight
				v := newVisit(t, p)
				clients.Run(t, program, libraryTask{
					Issuer: p.AuthURL, API: p.BaseURL, MCP: p.MCPURL, Scope: clientScope, Way: way, Confidential: confidential, Public: public,
				}, clients.Person{Visit: v.allow}, &got)
				want := librarySight{
					Scope: clientScope, Audience: p.BaseURL, Rotated: true, Call: 200.0, CallWithRevoked: "401 invalid_token",
					RefreshWithRevoked: "invalid_grant", CallAfterRevocation: "401 invalid_token",
					MachineCall: 200.0, TokenOfOtherResource: "401 invalid_token", UnknownResource: "invalid_target",
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				used := confidential
				if way == "none" {
					used = public
				}
				// The program authorizes twice. It then revokes the access token of the first
				// authorization, which keeps the grant, and the refresh token of the second,
				// which ends the grant. So one grant remains.
				if grants := grantsOf(t, p, used.ClientID); len(grants) != 1 {
					t.Errorf("the product lists %d grants of the client, want 1: %+v", len(grants), grants)
				}
			})
		}
	}
}

func confidentialClient(t *testing.T, p *product.Product) clientCredential {
	t.Helper()
	const redirect = "https://app.example/callback"
	minted := access.MintClientSecret()
	return clientCredential{insertClient(t, p, minted.Hash, redirect), minted.Secret, redirect}
}

func publicClient(t *testing.T, p *product.Product) clientCredential {
	t.Helper()
	return clientCredential{ClientID: insertClient(t, p, nil, nativeURI), Redirect: nativeURI}
}

// insertClient stores a client of the product's organization and returns its public client
// id.
func insertClient(t *testing.T, p *product.Product, secretHash []byte, redirect string) string {
	t.Helper()
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: p.OrgID, Name: "Client of others", Environment: core.Live,
		SecretHash: secretHash, Scopes: core.NewScopes("api.lists.view", "api.contacts.view", "api.account.view"),
		RedirectURIs: []string{redirect}, RefreshDays: 30, CreatedAt: p.Clock.Now(),
	}
	if err := p.DB.Clients().InsertClient(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c.ClientID
}

// grantsOf returns the grants of a client that are not revoked, those of all clients if
// clientID is "".
func grantsOf(t *testing.T, p *product.Product, clientID string) []access.Grant {
	t.Helper()
	all, err := p.DB.Grants().Grants(t.Context(), p.OrgID, access.GrantFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var of []access.Grant
	for _, g := range all {
		if clientID == "" || g.ClientID == clientID {
			of = append(of, g)
		}
	}
	return of
}
