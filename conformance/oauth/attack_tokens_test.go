package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestAttackAudienceConfusion checks that the API refuses tokens for the agent endpoint, and
// that the agent endpoint refuses tokens for the API. It tests tokens of clients and of
// people. A refresh cannot change the resource of a grant.
func TestAttackAudienceConfusion(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		forAPI, forAgent := s.tokens(s.app), s.tokens(s.app, "resource", s.p.MCPURL)
		for name, c := range map[string]struct {
			token      string
			api, agent int
		}{
			"person's token for the API at the agent endpoint": {forAPI.AccessToken, 200, 401},
			"person's token for the agent endpoint at the API": {forAgent.AccessToken, 401, 200},
			"client's token for the API at the agent endpoint": {s.p.Token(t, s.p.BaseURL), 200, 401},
			"client's token for the agent endpoint at the API": {s.p.Token(t, s.p.MCPURL), 401, 200},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.on(t)
				for range 2 { // the first request verifies the token, the second finds it in the cache
					if api, agent := s.atAPI(c.token), s.atAgent(c.token); api != c.api || agent != c.agent {
						t.Errorf("API %d, agent endpoint %d", api, agent)
					}
				}
			})
		}
		t.Run("refresh into the other host", func(t *testing.T) {
			s := s.on(t)
			s.refused(s.refresh(s.app, *forAgent.RefreshToken, "resource", s.p.BaseURL), "invalid_target")
			next := s.granted(s.refresh(s.app, *forAgent.RefreshToken))
			if s.atAPI(next.AccessToken) != 401 || s.atAgent(next.AccessToken) != 200 {
				t.Error("the grant has moved")
			}
		})
	})
}

// TestAttackTokenOutsideItsHeader checks that a token is accepted only in the Authorization
// header. In a query it would reach logs and browser histories (RFC 6750 sections 2.2 and
// 2.3, RFC 9700 section 4.3.2).
func TestAttackTokenOutsideItsHeader(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	api, agent := s.p.Token(t, s.p.BaseURL), s.p.Token(t, s.p.MCPURL)
	for name, c := range map[string]struct {
		query   string // the start of the query; the token is appended
		headers []string
	}{
		"query":                     {"?access_token=", nil},
		"query, bearer":             {"?bearer_token=", nil},
		"query, Authorization":      {"?Authorization=Bearer%20", nil},
		"cookie":                    {"", []string{"Cookie", "access_token=%s"}},
		"Basic":                     {"", []string{"Authorization", "Basic %s"}},
		"DPoP":                      {"", []string{"Authorization", "DPoP %s"}},
		"bare":                      {"", []string{"Authorization", "%s"}},
		"Proxy-Authorization":       {"", []string{"Proxy-Authorization", "Bearer %s"}},
		"X-Forwarded-Access-Token":  {"", []string{"X-Forwarded-Access-Token", "%s"}},
		"two Authorization headers": {"", []string{"Authorization", "Bearer %s", "Authorization", "Bearer %s"}},
		"two, the other empty":      {"", []string{"Authorization", "Bearer %s", "Authorization", ""}},
		"two in one header":         {"", []string{"Authorization", "Bearer %s, Bearer x"}},
		"two in one, spaced":        {"", []string{"Authorization", "Bearer %s x"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.on(t)
			with := func(token string) (string, []string) {
				q, headers := c.query, []string(nil)
				if q != "" {
					q += token
				}
				for _, h := range c.headers {
					headers = append(headers, strings.ReplaceAll(h, "%s", token))
				}
				return q, headers
			}
			q, headers := with(api)
			if a := s.send(s.p.HTTP, http.MethodGet, s.p.BaseURL+"/v1/lists"+q, "", headers...); a.status != http.StatusUnauthorized {
				t.Errorf("API: %d", a.status)
			}
			q, headers = with(agent)
			if a := s.callAgent(q, headers...); a.status != http.StatusUnauthorized {
				t.Errorf("agent endpoint: %d", a.status)
			}
		})
	}
	if s.atAPI(api) != 200 || s.atAgent(agent) != 200 {
		t.Error("the tokens are good for nothing, so this shows nothing")
	}
}

// TestAttackForgedTokenOverHTTP checks that a running product refuses forged tokens at the
// API and at the agent endpoint. TestForgedTokensAreRefusedAlike tests more forgeries,
// directly at the verifier.
func TestAttackForgedTokenOverHTTP(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	good := s.p.Token(t, s.p.BaseURL)
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"alg none":            unsigned(`{"alg":"none","typ":"at+jwt"}`, `{}`),
		"alg none, signature": "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0." + parts[1] + "." + parts[2],
		"claims changed":      parts[0] + "." + flip(parts[1]) + "." + parts[2],
		"signature left out":  parts[0] + "." + parts[1] + ".",
		"a refresh token":     access.MintRefreshToken().Secret,
		"a client's secret":   s.app.secret,
		"a session's secret":  access.MintAuthorizationCode().Secret,
	} {
		t.Run(name, func(t *testing.T) {
			if s := s.on(t); s.atAPI(token) != http.StatusUnauthorized || s.atAgent(token) != http.StatusUnauthorized {
				t.Error("accepted")
			}
		})
	}
	t.Run("expired by one second", func(t *testing.T) {
		s := s.on(t)
		s.p.Clock.Freeze(s.p.Clock.Now())
		fresh := s.p.Token(t, s.p.BaseURL)
		s.p.Clock.Advance(901 * time.Second)
		if got := s.atAPI(fresh); got != http.StatusUnauthorized {
			t.Errorf("%d", got)
		}
	})
}

// countingStore counts the reads of clients and of signing keys from the store.
type countingStore struct {
	access.ClientStore
	signing.Store
	clients, keys atomic.Int32
}

func (c *countingStore) Client(ctx context.Context, id string) (access.Client, error) {
	c.clients.Add(1)
	return c.ClientStore.Client(ctx, id)
}

func (c *countingStore) SigningKeys(ctx context.Context) ([]signing.Key, error) {
	c.keys.Add(1)
	return c.Store.SigningKeys(ctx)
}

// TestAttackUnknownKeyFlood checks that a thousand tokens with unknown key ids cause at
// most ten reads of the signing keys.
func TestAttackUnknownKeyFlood(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		store := &countingStore{Store: storagetest.SQLite(t).SigningKeys()}
		master, err := signing.LoadMasterKey(filepath.Join(t.TempDir(), "master.key"))
		w.must(err)
		cfg := w.config
		cfg.Keys, err = signing.NewKeys(t.Context(), store, master, w.clock)
		w.must(err)
		verifier, err := oauth.NewVerifier(cfg)
		w.must(err)
		before := store.keys.Load()
		for i := range 1000 {
			token := unsigned(fmt.Sprintf(`{"alg":"ES256","typ":"at+jwt","kid":"%s-%d"}`, core.NewID(), i), w.claimsText()) + strings.Repeat("A", 86)
			if _, err := verifier.VerifyToken(t.Context(), token, access.API); err == nil {
				t.Fatal("accepted")
			}
		}
		if read := store.keys.Load() - before; read > 10 {
			t.Errorf("1,000 unknown keys cost %d reads", read)
		}
	})
}
