package oauth_test

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/oauth"
	"golang.org/x/oauth2/clientcredentials"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldenServerMetadata(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		a := w.do(w.request(http.MethodGet, oauth.MetadataPath, ""))
		if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("%d %v", a.status, a.header)
		}
		const golden = "testdata/metadata.json"
		got := strings.ReplaceAll(a.body, w.issuer, "{auth_url}")
		if *update {
			w.must(goldentest.Write(golden, []byte(got), 0o600))
		}
		want, err := os.ReadFile(golden)
		w.must(err)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("metadata differs from %s (-want +got):\n%s", golden, diff)
		}
	})
}

// TestServerMetadataIsTrue checks that the authorization server's metadata agrees with its
// endpoints and with the tokens it issues.
func TestServerMetadataIsTrue(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		var doc struct {
			Issuer    string   `json:"issuer"`
			Token     string   `json:"token_endpoint"`
			Keys      string   `json:"jwks_uri"`
			Grants    []string `json:"grant_types_supported"`
			Targets   []string `json:"protected_resources"`
			Authorize string   `json:"authorization_endpoint"`
			Revoke    string   `json:"revocation_endpoint"`
			Iss       bool     `json:"authorization_response_iss_parameter_supported"`
		}
		w.must(json.Unmarshal([]byte(w.do(w.request(http.MethodGet, oauth.MetadataPath, "")).body), &doc))
		token := w.goodToken(w.live)
		if doc.Issuer != w.issuer || w.claimsOf(token, 1)["iss"] != doc.Issuer {
			t.Errorf("issuer %q is not the one of the tokens", doc.Issuer)
		}
		if doc.Token != w.issuer+"/oauth/token" || doc.Keys != w.issuer+"/.well-known/jwks.json" {
			t.Errorf("addresses: %+v", doc)
		}
		for _, target := range doc.Targets {
			w.goodToken(w.live, "resource", target)
		}
		if want := []string{"authorization_code", "refresh_token", "client_credentials"}; !cmp.Equal(doc.Grants, want) {
			t.Errorf("grants %v", doc.Grants)
		}
		if doc.Authorize != authorizeURL || doc.Revoke != w.issuer+oauth.RevocationPath || !doc.Iss {
			t.Errorf("%+v", doc)
		}
	})
}

func TestKeySetVerifiesTokens(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		a := w.do(w.request(http.MethodGet, oauth.KeySetPath, ""))
		if a.status != http.StatusOK || a.header.Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("%d %v", a.status, a.header)
		}
		if strings.Contains(a.body, `"d"`) {
			t.Fatal("the key set holds a private key")
		}
		var set jose.JSONWebKeySet
		w.must(json.Unmarshal([]byte(a.body), &set))
		jws, err := jose.ParseSignedCompact(w.goodToken(w.live), []jose.SignatureAlgorithm{jose.ES256})
		w.must(err)
		keys := set.Key(jws.Signatures[0].Protected.KeyID)
		if len(keys) != 1 || keys[0].Algorithm != "ES256" || keys[0].Use != "sig" {
			t.Fatalf("keys of the token's kid: %+v", keys)
		}
		if _, err := jws.Verify(keys[0].Key.(*ecdsa.PublicKey)); err != nil {
			t.Error(err)
		}
	})
}

func TestOtherPathsAndMethods(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			method, path string
			status       int
		}{
			// The OpenID Connect library serves these paths; this server must not.
			{"GET", "/healthz", 404},
			{"GET", "/ready", 404},
			{"GET", "/.well-known/openid-configuration", 404},
			// Some clients try these paths for a metadata document; this server has none
			// there.
			{"GET", "/.well-known/oauth-authorization-server/mcp", 404},
			{"GET", "/.well-known/oauth-protected-resource", 404},
			{"GET", "/.well-known/unknown", 404},
			{"GET", "/oauth/authorize", 404},
			{"GET", "/oauth/revoke", 405},
			{"POST", "/oauth/register", 404},
			{"POST", "/oauth/token/", 404},
			{"GET", "/", 404},
			{"POST", oauth.KeySetPath, 405},
			{"DELETE", oauth.MetadataPath, 405},
			{"HEAD", oauth.KeySetPath, 200},
			{"HEAD", oauth.MetadataPath, 200},
		} {
			a := w.do(w.request(c.method, c.path, ""))
			if a.status != c.status {
				t.Errorf("%s %s: %d", c.method, c.path, a.status)
			}
		}
	})
}

func TestCrossOriginRules(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for _, path := range []string{oauth.TokenPath, oauth.RevocationPath, oauth.IntrospectionPath, oauth.KeySetPath, oauth.MetadataPath, "/unknown"} {
			for _, method := range []string{"GET", "POST", "OPTIONS"} {
				r := w.request(method, path, "")
				r.Header.Set("Origin", "https://evil.example")
				r.Header.Set("Access-Control-Request-Method", "POST")
				a := w.do(r)
				if got := a.header["Access-Control-Allow-Origin"]; !cmp.Equal(got, []string{"*"}) {
					t.Errorf("%s %s: Allow-Origin %q", method, path, got)
				}
				if got, there := a.header["Access-Control-Allow-Credentials"]; there {
					t.Errorf("%s %s: Allow-Credentials %q", method, path, got)
				}
				if got := a.header.Get("Access-Control-Expose-Headers"); got != "WWW-Authenticate, Retry-After, X-Request-Id" {
					t.Errorf("%s %s: Expose-Headers %q", method, path, got)
				}
			}
		}
	})
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for path, methods := range map[string]string{
			oauth.TokenPath: "POST", oauth.RevocationPath: "POST", oauth.IntrospectionPath: "POST",
			oauth.KeySetPath: "GET, HEAD", oauth.MetadataPath: "GET, HEAD",
		} {
			r := w.request(http.MethodOptions, path, "")
			r.Header.Set("Origin", "https://app.example")
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "authorization,mcp-protocol-version")
			a := w.do(r)
			allowed := a.header.Get("Access-Control-Allow-Headers")
			if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Methods") != methods ||
				!strings.Contains(allowed, "Authorization") || !strings.Contains(allowed, "MCP-Protocol-Version") {
				t.Errorf("%s: %d %v", path, a.status, a.header)
			}
		}
	})
}

// TestThirdPartyClient checks that a third-party Go library gets a token by
// client_credentials that the agent endpoint accepts.
func TestThirdPartyClient(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		client := clientcredentials.Config{
			ClientID: w.live.ClientID, ClientSecret: w.live.secret, TokenURL: w.issuer + oauth.TokenPath,
			Scopes: []string{"api.contacts.view"}, EndpointParams: map[string][]string{"resource": {agentResource + "/"}},
		}
		token, err := client.Token(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if token.Type() != "Bearer" || token.RefreshToken != "" {
			t.Errorf("%+v", token)
		}
		p, err := w.auth.Authenticate(t.Context(), token.AccessToken, access.Agent)
		if err != nil || !cmp.Equal(p.Scopes.Strings(), []string{"api.contacts.view"}) {
			t.Errorf("%+v, %v", p, err)
		}
		client.ClientSecret = "ocs_wrong"
		if _, err := client.Token(context.Background()); err == nil || !strings.Contains(err.Error(), "invalid_client") {
			t.Errorf("with a wrong secret: %v", err)
		}
	})
}
