package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// joinOther makes the victim an owner of the product's second organization too.
func (s *scene) joinOther() {
	s.t.Helper()
	s.must(s.p.DB.Members().SetMember(s.t.Context(), members.Member{OrgID: s.p.Other.OrgID, UserID: s.victim.ID, Role: members.Owner}))
}

// TestAttackOrganizationConfusion checks that a grant of one organization gives no access
// to another organization of the same person. A client of one organization can get no
// approval in another.
func TestAttackOrganizationConfusion(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		t.Run("client of an organization without the victim", func(t *testing.T) {
			s := s.on(t)
			foreign := s.application(s.p.Other.OrgID, "", callback)
			b := s.signedIn()
			asked := s.get(b, "/oauth/authorize?"+query(foreign))
			forged := s.submit(b, "/oauth/authorize", url.Values{"request": {query(foreign)}, "decision": {"approve"}, "org_id": {s.p.Other.OrgID}})
			for _, a := range []answer{asked, forged} {
				if a.status != http.StatusConflict || a.header.Get("Location") != "" || strings.Contains(a.body, "Other Org") || strings.Contains(a.body, foreign.Name) {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
		})
		s.joinOther()
		t.Run("organization switched between question and answer", func(t *testing.T) {
			s := s.on(t)
			b, before := s.signedIn(), s.grants()
			values := s.consent(b, query(s.app))
			values.Set("decision", "approve")
			s.submit(b, "/switch-org", url.Values{"org_id": {s.p.Other.OrgID}})
			if a := s.submit(b, "/oauth/authorize", values); a.status != http.StatusConflict || a.header.Get("Location") != "" {
				t.Errorf("%d to %q", a.status, a.header.Get("Location"))
			}
			values.Set("org_id", s.p.Other.OrgID)
			if a := s.submit(b, "/oauth/authorize", values); a.status != http.StatusConflict || a.header.Get("Location") != "" || s.grants() != before {
				t.Errorf("with the other organization in the form: %d to %q", a.status, a.header.Get("Location"))
			}
		})
		t.Run("grant of one organization used in another", func(t *testing.T) {
			s := s.on(t)
			token := s.tokens(s.app).AccessToken
			read := func(email string) int {
				return s.send(s.p.HTTP, http.MethodGet, s.p.BaseURL+"/v1/contacts/"+email, "", "Authorization", "Bearer "+token, "X-Org-Id", s.p.Other.OrgID).status
			}
			if own, other := read(s.p.Contact), read(s.p.Other.Contact); own != http.StatusOK || other != http.StatusNotFound {
				t.Errorf("own contact %d, the other organization's %d", own, other)
			}
		})
		t.Run("grant of another organization revoked by id", func(t *testing.T) {
			s := s.on(t)
			victims := s.tokens(s.app)
			all, err := s.p.DB.Grants().Grants(t.Context(), s.p.OrgID, access.GrantFilter{UserID: s.victim.ID, Limit: 100})
			s.must(err)
			for _, g := range all {
				if err := s.p.DB.Grants().RevokeGrant(t.Context(), s.p.Other.OrgID, g.ID, s.p.Clock.Now()); core.AsError(err).Code != core.CodeNotFound {
					t.Errorf("%v", err)
				}
			}
			s.checkTokensWork(s.app, victims)
		})
	})
}

// TestAttackForgedConsent checks that an approval is accepted only from the form of the
// consent page that was shown to the same person, in the same session, for the same
// request. It must not grant scopes that the request did not ask for.
func TestAttackForgedConsent(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		victim := s.signedIn()
		shown := s.consent(victim, query(s.app))
		shown.Set("decision", "approve")
		s.person("mallory", s.p.OrgID)
		attacker := s.browser()
		s.signIn(attacker, "mallory@example.net", s.p.UserPassword)
		theirs := s.consent(attacker, query(s.app))
		theirs.Set("decision", "approve")
		for name, c := range map[string]struct {
			form   url.Values
			status int
		}{
			"without a token":              {changed(shown, "token", ""), http.StatusForbidden},
			"token of the attacker":        {theirs, http.StatusForbidden},
			"token of another request":     {changed(shown, "request", query(s.app, "scope", "api.contacts.view")), http.StatusForbidden},
			"token of another client":      {changed(shown, "request", query(s.native)), http.StatusForbidden},
			"another redirect URI":         {changed(shown, "request", query(s.app, "redirect_uri", "https://evil.example/cb")), http.StatusBadRequest},
			"another challenge":            {changed(shown, "request", query(s.app, "code_challenge", challengeOf(strings.Repeat("w", 43)))), http.StatusForbidden},
			"no organization":              {changed(shown, "org_id", ""), http.StatusConflict},
			"organization of the attacker": {changed(shown, "org_id", core.NewID()), http.StatusConflict},
			"no decision":                  {changed(shown, "decision", ""), http.StatusUnprocessableEntity},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.on(t)
				if a := s.submit(victim, "/oauth/authorize", c.form); a.status != c.status || a.header.Get("Location") != "" || s.grants() != 0 {
					t.Errorf("%d to %q, %d grants", a.status, a.header.Get("Location"), s.grants())
				}
			})
		}
		t.Run("scopes that were not asked for", func(t *testing.T) {
			s := s.on(t)
			asked := query(s.app, "scope", "api.lists.view")
			values := s.consent(victim, asked)
			values["scope"] = []string{"api.lists.view", "api.contacts.view", "api.contacts.manage"}
			values.Set("decision", "approve")
			back, err := url.Parse(s.submit(victim, "/oauth/authorize", values).header.Get("Location"))
			s.must(err)
			if a := s.granted(s.redeem(s.app, back.Query().Get("code"))); *a.Scope != "api.lists.view" {
				t.Errorf("granted %q", *a.Scope)
			}
		})
		t.Run("after signing out", func(t *testing.T) {
			s := s.on(t)
			before := s.grants()
			s.submit(victim, "/logout", url.Values{})
			a := s.submit(victim, "/oauth/authorize", shown)
			if !strings.HasPrefix(a.header.Get("Location"), "/login?") || s.grants() != before {
				t.Errorf("%d to %q", a.status, a.header.Get("Location"))
			}
		})
	})
}

// changed returns a copy of a form with one field set to another value.
func changed(form url.Values, name, value string) url.Values {
	other := url.Values{}
	for k, v := range form {
		other[k] = v
	}
	other.Set(name, value)
	return other
}
