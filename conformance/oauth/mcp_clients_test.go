package oauth_test

import (
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/oauth/clients"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// assistantTask is the input of a Node.js program that tests an MCP library: the MCP
// endpoint and a client id or the URL of a metadata document. Without either, the program
// registers a client itself.
type assistantTask struct {
	MCP         string `json:"mcp"`
	Redirect    string `json:"redirect_uri"`
	ClientID    string `json:"client_id,omitempty"`
	MetadataURL string `json:"client_metadata_url,omitempty"`
}

// assistantSight is the report of a Node.js program that tests an MCP library.
type assistantSight struct {
	ClientID        string `json:"client_id"`
	Resource        string `json:"resource"`
	Scope           string `json:"scope"`
	Server          string `json:"server"`
	Tools           bool   `json:"tools"`
	Called          bool   `json:"called"`
	CalledForAnHour bool   `json:"calledForAnHour"`
	Refreshes       int    `json:"refreshes"`
	AskedInAnHour   int    `json:"askedInAnHour"`
	// CalledWithoutGrant is true if a call succeeded after the grant was revoked.
	CalledWithoutGrant bool `json:"calledWithoutGrant"`
	CalledAgain        bool `json:"calledAgain"`
	Asked              int  `json:"asked"`
}

// TestAssistantsOfOthers checks that third-party MCP libraries need only the address of the
// agent endpoint. They find the metadata documents, become a client, get the consent of a
// person and call a tool for an hour, with a refresh for each access token. When the grant
// is revoked, the next call is refused and they ask the person again. The consent page lists
// the scopes that the tools need, and no others.
func TestAssistantsOfOthers(t *testing.T) {
	t.Parallel()
	document := metadataDocument(t)
	p := product.Start(t, product.Options{DynamicRegistration: true, ClientDocumentCAs: document.authorities})
	for _, program := range []string{"mcp_sdk.mjs", "mcp_client.mjs"} {
		for name, task := range map[string]assistantTask{
			"registered beforehand": {ClientID: publicClient(t, p).ClientID},
			"registers itself":      {},
			"metadata document":     {MetadataURL: document.address},
		} {
			t.Run(program+" "+name, func(t *testing.T) {
				// The subtests are not parallel. The two with the metadata document use the same
				// client, so each would count and revoke the grants of the other.
				task.MCP, task.Redirect = p.MCPURL, nativeURI
				connect(t, p, program, task)
			})
		}
	}
}

func connect(t *testing.T, p *product.Product, program string, task assistantTask) {
	t.Helper()
	v := newVisit(t, p)
	var client string
	person := clients.Person{
		Visit: func(question string) string {
			u, err := url.Parse(question)
			if err != nil {
				t.Fatal(err)
			}
			client = u.Query().Get("client_id")
			return v.allow(question)
		},
		EndGrants: func() {
			if live := grantsOf(t, p, client); len(live) != 1 || !strings.HasPrefix(client, task.ClientID+task.MetadataURL) {
				t.Errorf("the product lists %d grants of %s, want 1", len(live), client)
			}
			if _, err := p.DB.Grants().RevokeGrantsOf(t.Context(), p.OrgID, client, p.Clock.Now()); err != nil {
				t.Fatal(err)
			}
			// The server may cache the result of authenticating a token for five seconds. Wait
			// until that has expired.
			p.Clock.Advance(5 * time.Second)
		},
		Outlive: func() { p.Clock.Advance(accessLife) },
	}
	var got assistantSight
	clients.Run(t, program, task, person, &got)
	want := assistantSight{
		ClientID: client, Resource: p.MCPURL, Scope: got.Scope, Server: "mailhelm",
		Tools: true, Called: true, CalledForAnHour: true, Refreshes: 4, AskedInAnHour: 1, CalledAgain: true, Asked: 2,
	}
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got.Scope, "api.lists.view") {
		t.Errorf("scope %q, %s", got.Scope, diff)
	}
	offered := product.ToolScopes().Strings()
	if task.ClientID != "" { // what it asks for beyond its registration is not offered
		offered = []string{"api.account.view", "api.contacts.view", "api.lists.view"}
	}
	v.checkOffered(offered)
	// The program has asked the person again. The next one must find no grant.
	if _, err := p.DB.Grants().RevokeGrantsOf(t.Context(), p.OrgID, client, p.Clock.Now()); err != nil {
		t.Fatal(err)
	}
}

// hostedDocument is the address of a client's metadata document on a TLS server, with the
// certificate pool that trusts this server.
type hostedDocument struct {
	address     string
	authorities *x509.CertPool
}

// metadataDocument starts a TLS server with a client's metadata document. The client id in
// the document is the document's own address.
func metadataDocument(t *testing.T) hostedDocument {
	t.Helper()
	var address string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"client_id": address, "client_name": "Conformance assistant", "redirect_uris": []string{nativeURI},
			"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
			"token_endpoint_auth_method": "none",
		})
	}))
	t.Cleanup(server.Close)
	address = server.URL + "/oauth/client.json"
	authorities := x509.NewCertPool()
	authorities.AddCert(server.Certificate())
	return hostedDocument{address, authorities}
}
