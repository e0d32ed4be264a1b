package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// TestAttackPKCEDowngradeOfTheRequest checks that a request without a valid S256 challenge
// redirects to the client with an error and shows no consent page. This holds for
// confidential and public clients (RFC 9700 section 2.1.1).
func TestAttackPKCEDowngradeOfTheRequest(t *testing.T) {
	t.Parallel()
	s := oneScene(t)
	victim := s.signedIn()
	for name, pairs := range map[string][]string{
		"no challenge":              {"code_challenge", "-", "code_challenge_method", "-"},
		"no challenge, S256":        {"code_challenge", "-"},
		"empty challenge":           {"code_challenge", ""},
		"plain":                     {"code_challenge", verifier, "code_challenge_method", "plain"},
		"method missing":            {"code_challenge_method", "-"},
		"method empty":              {"code_challenge_method", ""},
		"method in other case":      {"code_challenge_method", "s256"},
		"S512":                      {"code_challenge_method", "S512"},
		"challenge short":           {"code_challenge", challengeOf(verifier)[:42]},
		"challenge long":            {"code_challenge", challengeOf(verifier) + "A"},
		"challenge padded":          {"code_challenge", challengeOf(verifier) + "="},
		"challenge in plain Base64": {"code_challenge", strings.Repeat("+/", 21) + "A"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.on(t)
			for _, c := range []registeredClient{s.app, s.native} {
				a := s.get(victim, "/oauth/authorize?"+query(c, pairs...))
				back, err := url.Parse(a.header.Get("Location"))
				if err != nil || a.status != http.StatusSeeOther || back.Query().Get("error") != "invalid_request" || back.Query().Has("code") {
					t.Errorf("%d to %q", a.status, back)
				}
			}
			if s.grants() != 0 {
				t.Error("something was granted")
			}
		})
	}
}

// TestAttackPKCEVerifier checks that a code gives no tokens without its verifier. An
// attempt with a wrong verifier makes the code invalid.
func TestAttackPKCEVerifier(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		victim := s.signedIn()
		for name, c := range map[string]struct{ verifier, code string }{
			"left out":              {"", "invalid_request"},
			"short":                 {verifier[:42], "invalid_request"},
			"long":                  {strings.Repeat("v", 129), "invalid_request"},
			"verifier = challenge":  {challengeOf(verifier), "invalid_grant"},
			"of another session":    {strings.Repeat("w", 43), "invalid_grant"},
			"in capitals":           {strings.ToUpper(verifier), "invalid_grant"},
			"longer by a character": {verifier + "v", "invalid_grant"},
			"with a NUL":            {verifier + "\x00", "invalid_request"},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.on(t)
				code := s.decide(victim, query(s.native), "approve").Query().Get("code")
				s.refused(s.redeem(s.native, code, "code_verifier", c.verifier), c.code)
				again := s.redeem(s.native, code)
				if c.code == "invalid_grant" {
					s.refused(again, "invalid_grant")
					return
				}
				s.granted(again) // a malformed request must leave the code valid
			})
		}
	})
}

// TestAttackVerifierForACodeWithoutChallenge checks that a stored code without a challenge
// can never be redeemed, with or without a verifier (RFC 9700 section 4.8.2).
func TestAttackVerifierForACodeWithoutChallenge(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		for _, presented := range []string{verifier, "", strings.Repeat("A", 43)} {
			grant := access.Grant{
				ID: core.NewID(), OrgID: s.p.OrgID, UserID: s.victim.ID, ClientID: s.app.ClientID,
				Resource: access.API, Scopes: s.app.Scopes, CreatedAt: s.p.Clock.Now(),
			}
			code := access.MintAuthorizationCode()
			s.must(s.p.DB.Grants().InsertGrant(t.Context(), grant))
			s.must(s.p.DB.Tokens().InsertCode(t.Context(), access.AuthorizationCode{
				Hash: code.Hash, GrantID: grant.ID, OrgID: grant.OrgID, ClientID: grant.ClientID,
				RedirectURI: callback, ExpiresAt: s.p.Clock.Now().Add(time.Minute),
			}))
			if a := s.redeem(s.app, code.Secret, "code_verifier", presented); a.status != http.StatusBadRequest || a.AccessToken != "" {
				t.Errorf("verifier %q: %d %s", presented, a.status, a.body)
			}
		}
	})
}
