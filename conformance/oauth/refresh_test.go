package oauth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

func TestRefreshRotates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, c := range []registeredClient{w.app, w.native} {
			first := w.family(c)
			second := w.granted(w.refresh(c, *first.RefreshToken))
			if *second.RefreshToken == *first.RefreshToken || second.AccessToken == first.AccessToken || *second.Scope != appScopes {
				t.Errorf("%s", second.body)
			}
			if !w.accepted(first.AccessToken) || !w.accepted(second.AccessToken) {
				t.Error("rotation ends no access token")
			}
			w.granted(w.refresh(c, *second.RefreshToken))
		}
	})
}

func TestRefreshReplayEndsTheFamily(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		bystander := w.family(w.app)
		first := w.family(w.app)
		live := first
		for range 3 {
			live = w.granted(w.refresh(w.app, *live.RefreshToken))
		}
		if !w.accepted(first.AccessToken) || !w.accepted(live.AccessToken) {
			t.Fatal("tokens are not accepted")
		}
		for range 2 {
			replay := w.refresh(w.app, *first.RefreshToken)
			w.expectError(replay, http.StatusBadRequest, "invalid_grant")
			if !strings.Contains(replay.ErrorDescription, "used before") || replay.ErrorURI != docsURL+"/guides/refresh-tokens" {
				t.Errorf("a replay reads %s", replay.body)
			}
		}
		w.expectEnded(w.app, live)
		if w.accepted(first.AccessToken) {
			t.Error("the first access token is still accepted")
		}
		w.expectAudited(t, w.app)
		if !w.accepted(bystander.AccessToken) {
			t.Error("another authorization of the same person ended too")
		}
		w.granted(w.refresh(w.app, *bystander.RefreshToken))
	})
}

func TestConcurrentRefreshes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		token := *w.family(w.app).RefreshToken
		answers := atOnce(100, func() answer { return w.refresh(w.app, token) })
		w.expectOneWinner(t, w.app, answers)
	})
}

func TestRefreshScope(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		token := *w.family(w.app, "scope", "api.account.view api.contacts.view").RefreshToken
		for _, c := range []struct{ scope, want string }{
			{"api.account.view", "api.account.view"},
			// the earlier refresh with fewer scopes has not reduced the scopes of the grant
			{"", "api.account.view api.contacts.view"},
			{"api.account.view api.contacts.view", "api.account.view api.contacts.view"},
			{"api.contacts.manage", ""},
			{"api.account.view api.contacts.manage", ""},
			{"api.lists.view", ""},
			{"offline_access", ""},
		} {
			a := w.refresh(w.app, token, "scope", c.scope)
			if c.want == "" {
				w.expectError(a, http.StatusBadRequest, "invalid_scope")
				continue
			}
			token = *w.granted(a).RefreshToken
			if *a.Scope != c.want || w.claimsOf(a.AccessToken, 1)["scope"] != c.want {
				t.Errorf("scope %q gives %q", c.scope, *a.Scope)
			}
		}
		w.granted(w.refresh(w.app, token)) // the refused requests left the refresh token valid
	})
}

// TestResourceOfAGrant checks that the resource of a grant stays the same, both at the
// exchange of the code and at a refresh.
func TestResourceOfAGrant(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		for _, c := range []struct{ asked, own, other string }{
			{"-", apiResource, agentResource},
			{apiResource, apiResource, agentResource},
			{agentResource + "/", agentResource, apiResource},
		} {
			a := w.granted(w.redeem(w.app, w.code(w.app, "resource", c.asked), "resource", c.own, "resource", c.own+"/"))
			for _, repeated := range [][]string{nil, {"resource", c.own}, {"resource", c.own + "/"}, {"resource", c.own, "resource", c.own}, {"resource", ""}} {
				a = w.granted(w.refresh(w.app, *a.RefreshToken, repeated...))
				if got := w.claimsOf(a.AccessToken, 1)["aud"]; got != c.own {
					t.Errorf("%v: aud %v", c, got)
				}
			}
			for _, wrong := range [][]string{{"resource", c.other}, {"resource", c.own, "resource", c.other}, {"resource", "https://api.example"}, {"resource", "/v1"}} {
				w.expectError(w.refresh(w.app, *a.RefreshToken, wrong...), http.StatusBadRequest, "invalid_target")
			}
			w.granted(w.refresh(w.app, *a.RefreshToken))
			_, atAPI := w.auth.Authenticate(t.Context(), a.AccessToken, access.API)
			_, atAgent := w.auth.Authenticate(t.Context(), a.AccessToken, access.Agent)
			if (atAPI == nil) != (c.own == apiResource) || (atAgent == nil) != (c.own == agentResource) {
				t.Errorf("%v: API %v, agent endpoint %v", c, atAPI, atAgent)
			}
		}
	})
}

func TestRefreshEndsForGood(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		a := w.family(w.app)
		for range 2 {
			w.advance(14 * 24 * time.Hour)
			a = w.granted(w.refresh(w.app, *a.RefreshToken))
		}
		w.advance(2*24*time.Hour - time.Second)
		a = w.granted(w.refresh(w.app, *a.RefreshToken))
		w.advance(time.Second)
		over := w.refresh(w.app, *a.RefreshToken)
		w.expectError(over, http.StatusBadRequest, "invalid_grant")
		if !strings.Contains(over.ErrorDescription, "is over") {
			t.Errorf("the end reads %q", over.ErrorDescription)
		}
	})
}

func TestRefreshWithoutEnd(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		c := access.Client{
			ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: w.ann.OrgID, Name: "forever", Environment: core.Live,
			Scopes: core.NewScopes("api.account.view"), RedirectURIs: []string{callback}, CreatedAt: start,
		}
		w.must(w.db.Clients().InsertClient(t.Context(), c))
		token := *w.family(registeredClient{Client: c}).RefreshToken
		w.advance(20 * 365 * 24 * time.Hour)
		w.granted(w.refresh(registeredClient{Client: c}, token))
	})
}

// TestRefreshTokenOfAnotherClient checks that a refresh token is refused for another client
// and stays valid for its own client.
func TestRefreshTokenOfAnotherClient(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		foreign := w.application(w.other.OrgID, access.MintClientSecret().Secret, callback)
		first := w.family(w.app)
		live := w.granted(w.refresh(w.app, *first.RefreshToken))
		for _, thief := range []registeredClient{w.native, foreign, w.live} {
			for _, token := range []string{*live.RefreshToken, *first.RefreshToken} {
				w.expectError(w.refresh(thief, token), http.StatusBadRequest, "invalid_grant")
			}
		}
		for _, token := range []string{"x", "ocr_", access.MintRefreshToken().Secret, strings.ToLower(*live.RefreshToken), live.AccessToken} {
			w.expectError(w.refresh(w.app, token), http.StatusBadRequest, "invalid_grant")
		}
		w.granted(w.refresh(w.app, *live.RefreshToken))
	})
}

// TestTokensFollowTheirPerson checks that changed permissions, a removed member and a
// revoked client take effect on existing tokens.
func TestTokensFollowTheirPerson(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		bob := w.person(w.app.OrgID, "bob", members.PlainMember, members.MayViewAccount, members.MayViewContacts)
		a := w.granted(w.redeem(w.app, w.codeFor(bob, w.app)))
		w.expectScopes(t, a.AccessToken, "api.account.view api.contacts.view")

		bob.Permissions = []members.Permission{members.MayViewAccount, members.MayManageContacts}
		w.must(w.db.Members().SetMember(t.Context(), bob))
		w.auth.ForgetUser(bob.UserID)
		w.expectScopes(t, a.AccessToken, "api.account.view") // the person did not consent to the new permission
		a = w.granted(w.refresh(w.app, *a.RefreshToken))
		w.expectScopes(t, a.AccessToken, "api.account.view")

		w.must(w.db.Members().RemoveMember(t.Context(), bob.OrgID, bob.UserID))
		w.advance(5 * time.Second)
		w.expectEnded(w.app, a)

		w.must(w.db.Members().SetMember(t.Context(), bob))
		w.granted(w.refresh(w.app, *a.RefreshToken))
		w.must(w.db.Clients().RevokeClient(t.Context(), w.app.OrgID, w.app.ID, w.clock()))
		w.expectError(w.refresh(w.app, *a.RefreshToken), http.StatusUnauthorized, "invalid_client")
	})
}

func (w *world) expectScopes(t *testing.T, token, want string) {
	t.Helper()
	p, err := w.auth.Authenticate(t.Context(), token, access.API)
	if err != nil || strings.Join(p.Scopes.Strings(), " ") != want {
		t.Errorf("scopes %v, want %s: %v", p.Scopes, want, err)
	}
}
