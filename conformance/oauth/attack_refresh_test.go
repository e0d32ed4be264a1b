package oauth_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestAttackRefreshReplay checks that reusing the first refresh token after three rotations
// revokes all tokens of that authorization. Tokens of another authorization by the same
// person must stay valid.
func TestAttackRefreshReplay(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		bystander := s.tokens(s.native)
		first := s.tokens(s.native)
		generations := []answer{first}
		for range 3 {
			generations = append(generations, s.checkTokensWork(s.native, generations[len(generations)-1]))
		}
		s.refused(s.refresh(s.native, *first.RefreshToken), "invalid_grant")
		for _, g := range generations {
			s.checkTokensRefused(s.native, g)
		}
		s.checkTokensWork(s.native, bystander)
	})
}

// TestAttackStolenRefreshToken checks that a refresh token gives no tokens to another
// client than the one it was issued to. The tokens of that client must stay valid.
func TestAttackStolenRefreshToken(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		victims := s.tokens(s.app)
		for name, c := range map[string]struct {
			thief registeredClient
			code  string
		}{
			"another client":                 {s.application(s.p.OrgID, access.MintClientSecret().Secret, callback), "invalid_grant"},
			"public client":                  {s.native, "invalid_grant"},
			"client of another organization": {s.application(s.p.Other.OrgID, access.MintClientSecret().Secret, callback), "invalid_grant"},
			"without the secret":             {registeredClient{Client: s.app.Client}, "invalid_client"},
			"with a secret of another":       {registeredClient{Client: s.app.Client, secret: s.p.Live.ClientSecret}, "invalid_client"},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.on(t)
				s.refused(s.refresh(c.thief, *victims.RefreshToken), c.code)
				s.post("/oauth/revoke", c.thief, "token", *victims.RefreshToken)
				s.post("/oauth/revoke", c.thief, "token", victims.AccessToken)
			})
		}
		for name, c := range map[string]struct{ parameter, value, code string }{
			"wider scope":    {"scope", sceneScopes + " api.contacts.manage", "invalid_scope"},
			"other resource": {"resource", s.p.MCPURL, "invalid_target"},
		} {
			t.Run(name, func(t *testing.T) {
				s.on(t).refused(s.refresh(s.app, *victims.RefreshToken, c.parameter, c.value), c.code)
			})
		}
		s.checkTokensWork(s.app, victims)
	})
}

// TestAttackThousandRefreshesAtOnce checks that exactly one of a thousand concurrent
// refreshes of one token succeeds. The others count as replays, which also revoke the
// tokens of the successful refresh. All refreshes share 64 connections, to limit the load
// on the machine.
func TestAttackThousandRefreshesAtOnce(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		token := *s.tokens(s.app).RefreshToken
		transport := &http.Transport{MaxConnsPerHost: 64, MaxIdleConnsPerHost: 64}
		defer transport.CloseIdleConnections()
		attackers := &http.Client{Transport: transport}
		s.oneWinner(s.app, atOnce(enginetest.Share(1000), func() answer {
			return s.postWith(attackers, "/oauth/token", s.app, "grant_type", "refresh_token", "refresh_token", token)
		}))
		events, err := s.p.DB.Audit().FindAudit(t.Context(), s.p.OrgID, access.AuditFilter{Limit: 1000})
		s.must(err)
		replays := 0
		for _, e := range events {
			if e.Action == "grant.replayed" {
				replays++
			}
		}
		if replays == 0 || replays > 64 {
			t.Errorf("the organization is told %d times", replays)
		}
	})
}

// TestAttackRefreshDuringRevocation checks that a refresh and a revocation at the same time
// leave no valid token, whichever runs first.
func TestAttackRefreshDuringRevocation(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		for range 10 {
			victims := s.tokens(s.app)
			var both sync.WaitGroup
			var got answer
			both.Go(func() { got = s.refresh(s.app, *victims.RefreshToken) })
			both.Go(func() { s.post("/oauth/revoke", s.app, "token", *victims.RefreshToken) })
			both.Wait()
			s.checkTokensRefused(s.app, victims)
			if got.status == http.StatusOK {
				s.checkTokensRefused(s.app, got)
			}
		}
	})
}
