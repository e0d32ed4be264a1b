package oauth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

// TestAttackCodeInjection checks that a stolen authorization code gives the thief no token.
// The thief's attempt makes the code invalid, unless it failed at the authentication of the
// client. The tokens that the victim got earlier must stay valid.
func TestAttackCodeInjection(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		before := s.tokens(s.app)
		same := s.application(s.p.OrgID, access.MintClientSecret().Secret, callback)
		foreign := s.application(s.p.Other.OrgID, access.MintClientSecret().Secret, callback)
		victim := s.signedIn()
		for name, c := range map[string]struct {
			thief registeredClient
			pairs []string
			code  string
		}{
			"code of another client":             {same, nil, "invalid_grant"},
			"client of another organization":     {foreign, nil, "invalid_grant"},
			"public client":                      {s.native, []string{"redirect_uri", callback}, "invalid_grant"},
			"another redirect URI of the client": {s.app, []string{"redirect_uri", "https://app.example/other"}, "invalid_grant"},
			"redirect URI of nobody":             {s.app, []string{"redirect_uri", "https://evil.example/cb"}, "invalid_grant"},
			"verifier of the attacker's session": {s.app, []string{"code_verifier", strings.Repeat("w", 64)}, "invalid_grant"},
			"for another resource":               {s.app, []string{"resource", s.p.MCPURL}, "invalid_target"},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.on(t)
				known := s.grants()
				code := s.decide(victim, query(s.app), "approve").Query().Get("code")
				s.refused(s.redeem(c.thief, code, c.pairs...), c.code)
				s.refused(s.redeem(s.app, code), "invalid_grant")
				if s.grants() != known {
					t.Error("the grant of the stolen code lives on")
				}
			})
		}
		for name, thief := range map[string]registeredClient{
			"without the secret":    {Client: s.app.Client},
			"with another secret":   {Client: s.app.Client, secret: same.secret},
			"as an unknown client":  {Client: access.Client{ClientID: "oc_live_AAAAAAAAAAAAAAAAAAAAAAAAAA", RedirectURIs: []string{callback}}},
			"secret on a public id": {Client: s.native.Client, secret: s.app.secret},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.on(t)
				code := s.decide(victim, query(s.app), "approve").Query().Get("code")
				s.refused(s.redeem(thief, code, "redirect_uri", callback), "invalid_client")
				s.granted(s.redeem(s.app, code)) // a failed client authentication must leave the code valid
			})
		}
		s.checkTokensWork(s.app, before)
	})
}

// TestAttackCodeReplay checks that a second redemption of a code revokes every token that
// derives from the first redemption, access tokens included. Other tokens of the client
// must stay valid.
func TestAttackCodeReplay(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		bystander := s.tokens(s.app)
		for name, thief := range map[string]registeredClient{
			"by the client":                         s.app,
			"by another client of the organization": s.application(s.p.OrgID, access.MintClientSecret().Secret, callback),
		} {
			t.Run(name, func(t *testing.T) {
				s := s.on(t)
				code := s.code(s.app)
				first := s.granted(s.redeem(s.app, code))
				second := s.granted(s.refresh(s.app, *first.RefreshToken))
				if s.atAPI(first.AccessToken) != http.StatusOK || s.atAPI(second.AccessToken) != http.StatusOK {
					t.Fatal("the tokens do not work in the first place")
				}
				s.refused(s.redeem(thief, code), "invalid_grant")
				s.checkTokensRefused(s.app, second)
				if got := s.atAPI(first.AccessToken); got != http.StatusUnauthorized {
					t.Errorf("the first access token still gets %d", got)
				}
			})
		}
		s.checkTokensWork(s.app, bystander)
	})
}

func TestAttackFiftyRedemptionsAtOnce(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		code := s.code(s.app)
		s.oneWinner(s.app, atOnce(50, func() answer { return s.redeem(s.app, code) }))
	})
}

// oneWinner checks that exactly one answer has tokens and that every other answer is an
// invalid_grant. The other requests count as replays, so they must also have revoked the
// tokens of the successful answer.
func (s *scene) oneWinner(c registeredClient, answers []answer) {
	s.t.Helper()
	var winners []answer
	for _, a := range answers {
		if a.status == http.StatusOK {
			winners = append(winners, a)
			continue
		}
		s.refused(a, "invalid_grant")
	}
	if len(winners) != 1 {
		s.t.Fatalf("%d of %d requests won", len(winners), len(answers))
	}
	s.checkTokensRefused(c, winners[0])
}

// TestAttackOldCode checks that a code is refused one minute after it was issued. A code
// stolen from a log or a browser's history is usually older.
func TestAttackOldCode(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		code := s.code(s.app)
		s.p.Clock.Advance(time.Minute)
		for range 2 {
			s.refused(s.redeem(s.app, code), "invalid_grant")
		}
	})
}
