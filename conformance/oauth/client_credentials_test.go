package oauth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

func TestTokenResponse(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		a := w.token(w.live)
		if a.status != http.StatusOK || a.TokenType != "Bearer" || a.ExpiresIn != 900 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if a.RefreshToken != nil || strings.Contains(a.body, "id_token") {
			t.Errorf("client_credentials gives an access token alone: %s", a.body)
		}
		if a.Scope == nil || *a.Scope != "api.account.view api.contacts.manage api.contacts.view" {
			t.Errorf("scope: %s", a.body)
		}
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Content-Type": "application/json", "Www-Authenticate": "",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

func TestTokenClaims(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		token := w.goodToken(w.test, "resource", agentResource)
		kid, _ := w.keys.Current()
		if diff := cmp.Diff(map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": kid}, w.claimsOf(token, 0)); diff != "" {
			t.Errorf("header: %s", diff)
		}
		want := map[string]any{
			"iss": w.issuer, "sub": w.test.ClientID, "client_id": w.test.ClientID, "aud": agentResource,
			"iat": float64(start.Unix()), "exp": float64(start.Unix() + 900),
			"scope": "api.account.view api.contacts.manage api.contacts.view",
			"org":   w.test.OrgID, "env": "test",
		}
		got := w.claimsOf(token, 1)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "jti" })); diff != "" {
			t.Errorf("claims: %s", diff)
		}
		if id, _ := got["jti"].(string); !core.IsID(id) || id == w.claimsOf(w.goodToken(w.test), 1)["jti"] {
			t.Errorf("jti %q is not a fresh id", id)
		}
	})
}

func TestClientCredentialsScope(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		const all = "api.account.view api.contacts.manage api.contacts.view"
		for name, c := range map[string]struct {
			scope, want string // want "" when refused
		}{
			"empty":                 {"", all},
			"only spaces":           {"  ", all},
			"subset":                {"api.account.view", "api.account.view"},
			"all, in any order":     {"api.contacts.view api.account.view api.contacts.manage", all},
			"double spaces":         {" api.account.view   api.contacts.view ", "api.account.view api.contacts.view"},
			"the same twice":        {"api.account.view api.account.view", "api.account.view"},
			"wider":                 {"api.account.view api.lists.view", ""},
			"unknown":               {"api.accounts.view", ""},
			"unknown with a secret": {w.live.secret, ""},
			"other case":            {"API.account.view", ""},
			"offline_access":        {"offline_access", ""},
			"openid":                {"openid", ""},
			"comma":                 {"api.account.view,api.contacts.view", ""},
			"no-break space":        {"api.account.view\u00a0api.contacts.view", ""},
			"quotes":                {`api."account"`, ""},
		} {
			a := w.token(w.live, "scope", c.scope)
			if c.want == "" {
				w.expectError(a, http.StatusBadRequest, "invalid_scope")
				continue
			}
			if a.Scope == nil || *a.Scope != c.want {
				t.Errorf("%s: %d %s", name, a.status, a.body)
				continue
			}
			if got := w.claimsOf(a.AccessToken, 1)["scope"]; got != c.want {
				t.Errorf("%s: the token's scope is %v", name, got)
			}
		}
	})
}

func TestRefusedScopeIsNamed(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for scope, want := range map[string]string{
			"api.lists.view":              "api.lists.view",
			"api.account.view api.typo.x": "api.typo.x",
			"api.account.view offline":    "number 2",
		} {
			if a := w.token(w.live, "scope", scope); !strings.Contains(a.ErrorDescription, want) {
				t.Errorf("%s: %q does not say %q", scope, a.ErrorDescription, want)
			}
		}
	})
}

func TestClientWithoutScopesGetsATokenWithoutScopes(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		bare := w.register(w.live.OrgID, core.Live, core.NewScopes())
		a := w.token(bare)
		if a.status != http.StatusOK || a.Scope == nil || *a.Scope != "" {
			t.Fatalf("%d %s", a.status, a.body)
		}
		p, err := w.auth.Authenticate(t.Context(), a.AccessToken, access.API)
		if err != nil || len(p.Scopes) != 0 {
			t.Errorf("%v, %v", p.Scopes, err)
		}
	})
}

func TestClientAuthenticationFailures(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		for name, c := range map[string]registeredClient{
			"unknown client":              {Client: access.Client{ClientID: access.MintClientID(core.Live)}, secret: w.live.secret},
			"malformed client id":         {Client: access.Client{ClientID: "nobody"}, secret: w.live.secret},
			"wrong secret":                {Client: w.live.Client, secret: access.MintClientSecret().Secret},
			"another client's secret":     {Client: w.live.Client, secret: w.other.secret},
			"secret in lower case":        {Client: w.live.Client, secret: strings.ToLower(w.live.secret)},
			"part of the secret":          {Client: w.live.Client, secret: w.live.secret[:20]},
			"the hash for the secret":     {Client: w.live.Client, secret: string(w.live.SecretHash)},
			"revoked client":              w.revoked,
			"public client with a secret": {Client: w.public.Client, secret: w.live.secret},
		} {
			t.Run(name, func(t *testing.T) {
				a := w.token(c)
				w.expectError(a, http.StatusUnauthorized, "invalid_client")
				if strings.Contains(a.ErrorDescription, "revoked.") && !strings.Contains(a.ErrorDescription, "not known") {
					t.Errorf("the description tells why: %q", a.ErrorDescription)
				}
			})
		}
	})
}

func TestAllAuthenticationFailuresReadTheSame(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		unknown := w.token(registeredClient{Client: access.Client{ClientID: access.MintClientID(core.Live)}, secret: "ocs_x"})
		wrong := w.token(registeredClient{Client: w.live.Client, secret: "ocs_x"})
		revoked := w.token(w.revoked)
		if unknown.body != wrong.body || wrong.body != revoked.body {
			t.Errorf("unknown %q, wrong %q, revoked %q", unknown.body, wrong.body, revoked.body)
		}
	})
}

func TestPublicClientMayNotUseClientCredentials(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		r := w.request(http.MethodPost, "/oauth/token", "grant_type=client_credentials&client_id="+w.public.ClientID)
		r.Header.Set("Content-Type", form)
		w.expectError(w.do(r), http.StatusBadRequest, "unauthorized_client")
	})
}

func TestConfidentialClientMayNotOmitItsSecret(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		r := w.request(http.MethodPost, "/oauth/token", "grant_type=client_credentials&client_id="+w.live.ClientID)
		r.Header.Set("Content-Type", form)
		w.expectError(w.do(r), http.StatusUnauthorized, "invalid_client")
	})
}

func TestRevokedClientGetsNoMoreTokens(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		token := w.goodToken(w.live)
		if _, err := w.auth.Authenticate(t.Context(), token, access.API); err != nil {
			t.Fatal(err)
		}
		w.must(w.db.Clients().RevokeClient(t.Context(), w.live.OrgID, w.live.ID, w.clock()))
		w.expectError(w.token(w.live), http.StatusUnauthorized, "invalid_client")

		// A process may cache the result of authenticating a token for five seconds. After
		// that time the tokens of the revoked client must be refused.
		w.advance(5 * time.Second)
		if _, err := w.auth.Authenticate(t.Context(), token, access.API); core.AsError(err).Code != core.CodeInvalidKey {
			t.Errorf("a revoked client's token is accepted after five seconds: %v", err)
		}
	})
}

func TestForgetEndsARevokedClientAtOnce(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		token, bystander := w.goodToken(w.live), w.goodToken(w.other)
		for _, credential := range []string{token, bystander} {
			if _, err := w.auth.Authenticate(t.Context(), credential, access.API); err != nil {
				t.Fatal(err)
			}
		}
		w.must(w.db.Clients().RevokeClient(t.Context(), w.live.OrgID, w.live.ID, w.clock()))
		w.auth.Forget(w.live.ID)
		if _, err := w.auth.Authenticate(t.Context(), token, access.API); err == nil {
			t.Error("the token of a revoked and forgotten client is accepted")
		}
		if _, err := w.auth.Authenticate(t.Context(), bystander, access.API); err != nil {
			t.Errorf("another organization's token: %v", err)
		}
	})
}
