package oauth_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/oauth"
)

func TestCodeExchange(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for name, c := range map[string]struct {
			client registeredClient
			pairs  []string // of the authorization
		}{
			"confidential":         {w.app, nil},
			"public":               {w.native, nil},
			"for the API by name":  {w.app, []string{"resource", apiResource}},
			"with a narrow scope":  {w.app, []string{"scope", appScopes}},
			"with a loopback port": {w.native, []string{"redirect_uri", loopback}},
		} {
			a := w.family(c.client, c.pairs...)
			if a.TokenType != "Bearer" || a.ExpiresIn != 900 || a.Scope == nil || *a.Scope != appScopes || a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %s", name, a.body)
			}
			p, err := w.auth.Authenticate(t.Context(), a.AccessToken, access.API)
			if err != nil || p.UserID != w.ann.UserID || p.Org.ID != w.ann.OrgID || strings.Join(p.Scopes.Strings(), " ") != appScopes {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		}
	})
}

// TestCodePresentedWrongly checks that a valid code is refused if it is presented with a
// wrong client, redirect URI, verifier or resource, or too late. The code may be stolen, so
// afterwards the right client is refused too.
func TestCodePresentedWrongly(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		second := w.application(w.app.OrgID, access.MintClientSecret().Secret, callback)
		for name, c := range map[string]struct {
			client registeredClient
			pairs  []string // over those of redeem
			after  time.Duration
			code   string
		}{
			"another client":           {second, nil, 0, "invalid_grant"},
			"a public client":          {w.native, nil, 0, "invalid_grant"},
			"another redirect URI":     {w.app, []string{"redirect_uri", callback + "?tenant=1"}, 0, "invalid_grant"},
			"redirect URI, with slash": {w.app, []string{"redirect_uri", callback + "/"}, 0, "invalid_grant"},
			"another verifier":         {w.app, []string{"code_verifier", strings.Repeat("w", 43)}, 0, "invalid_grant"},
			"a longer verifier":        {w.app, []string{"code_verifier", verifier + "v"}, 0, "invalid_grant"},
			"the challenge itself":     {w.app, []string{"code_verifier", challengeOf(verifier)}, 0, "invalid_grant"},
			"another resource":         {w.app, []string{"resource", agentResource}, 0, "invalid_target"},
			"after 60 seconds":         {w.app, nil, time.Minute, "invalid_grant"},
		} {
			t.Run(name, func(t *testing.T) {
				before := w.countGrants(t)
				code := w.code(w.app)
				w.advance(c.after)
				a := w.redeemWith(c.client, code, c.pairs...)
				w.expectError(a, http.StatusBadRequest, c.code)
				if now := w.countGrants(t); c.after == 0 && now != before {
					t.Errorf("%d grants where there were %d: the code's own is still there", now, before)
				}
				w.expectError(w.redeem(w.app, code), http.StatusBadRequest, "invalid_grant")
			})
		}
	})
}

// countGrants returns how many grants of the user ann are not revoked.
func (w *world) countGrants(t *testing.T) int {
	t.Helper()
	grants, err := w.db.Grants().Grants(t.Context(), w.ann.OrgID, access.GrantFilter{UserID: w.ann.UserID, Limit: 100})
	w.must(err)
	return len(grants)
}

// redeemWith exchanges a code for tokens. pairs are names and values that replace or extend
// the parameters of a correct request.
func (w *world) redeemWith(c registeredClient, code string, pairs ...string) answer {
	w.t.Helper()
	all := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", w.app.RedirectURIs[0], "code_verifier", verifier}
	for i := 0; i < len(pairs); i += 2 {
		for j := 0; j < len(all); j += 2 {
			if all[j] == pairs[i] {
				all[j+1] = pairs[i+1]
				pairs[i] = ""
			}
		}
		if pairs[i] != "" {
			all = append(all, pairs[i], pairs[i+1])
		}
	}
	return w.post(oauth.TokenPath, c, all...)
}

// TestMalformedExchangeCostsNoCode checks that a malformed parameter or a failed client
// authentication is refused and leaves the code valid.
func TestMalformedExchangeCostsNoCode(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		code := w.code(w.app)
		for _, v := range []string{"", verifier[:42], strings.Repeat("v", 129), verifier + "+", verifier + " ", "ü" + verifier} {
			w.expectError(w.redeemWith(w.app, code, "code_verifier", v), http.StatusBadRequest, "invalid_request")
		}
		wrong := w.app
		wrong.secret = access.MintClientSecret().Secret
		w.expectError(w.redeem(wrong, code), http.StatusUnauthorized, "invalid_client")
		silent := w.app
		silent.secret = ""
		w.expectError(w.redeem(silent, code), http.StatusUnauthorized, "invalid_client")
		w.expectError(w.redeemWith(registeredClient{Client: w.native.Client, secret: w.app.secret}, code), http.StatusUnauthorized, "invalid_client")
		w.expectError(w.redeem(w.app, code, "code", "x"), http.StatusBadRequest, "invalid_request")
		w.advance(time.Minute - time.Nanosecond)
		w.granted(w.redeem(w.app, code))
	})
}

func TestVerifiersOfAllLengths(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for _, v := range []string{strings.Repeat("a", 43), strings.Repeat("~", 128), "-._~" + strings.Repeat("Z9", 20)} {
			code := w.code(w.app, "code_challenge", challengeOf(v))
			w.granted(w.redeemWith(w.app, code, "code_verifier", v))
		}
	})
}

// TestCodeReplayEndsTheFamily checks that a second redemption of a code is refused and
// revokes the tokens of the first.
func TestCodeReplayEndsTheFamily(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		code := w.code(w.app)
		first := w.granted(w.redeem(w.app, code))
		if !w.accepted(first.AccessToken) {
			t.Fatal("the token is not accepted")
		}
		replay := w.redeem(w.app, code)
		w.expectError(replay, http.StatusBadRequest, "invalid_grant")
		if !strings.Contains(replay.ErrorDescription, "redeemed before") {
			t.Errorf("a replay reads %q", replay.ErrorDescription)
		}
		w.expectEnded(w.app, first)
		w.expectAudited(t, w.app)
	})
}

// expectAudited checks that the audit log of the client's organization has an event for the
// replay of an authorization code. The event must have the ids of the client, the grant and
// the request.
func (w *world) expectAudited(t *testing.T, c registeredClient) {
	t.Helper()
	events, err := w.db.Audit().FindAudit(t.Context(), c.OrgID, access.AuditFilter{Limit: 200})
	w.must(err)
	for _, e := range events {
		if e.Action == "grant.replayed" && e.ActorID == c.ID && e.SubjectID != "" && e.RequestID != "" {
			return
		}
	}
	t.Errorf("no replay in the audit log: %+v", events)
}

func TestConcurrentRedemptions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		code := w.code(w.app)
		answers := atOnce(10, func() answer { return w.redeem(w.app, code) })
		w.expectOneWinner(t, w.app, answers)
	})
}

// atOnce calls the function do in n goroutines at the same time and returns all answers.
func atOnce(n int, do func() answer) []answer {
	answers := make([]answer, n)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			<-begin
			answers[i] = do()
		})
	}
	close(begin)
	all.Wait()
	return answers
}

// expectOneWinner checks that exactly one answer has tokens and that every other answer is
// invalid_grant. The requests that failed count as replays, so the issued tokens must be
// revoked.
func (w *world) expectOneWinner(t *testing.T, c registeredClient, answers []answer) {
	t.Helper()
	var winners []answer
	for _, a := range answers {
		if a.status == http.StatusOK {
			winners = append(winners, a)
			continue
		}
		w.expectError(a, http.StatusBadRequest, "invalid_grant")
	}
	if len(winners) != 1 {
		t.Fatalf("%d requests won", len(winners))
	}
	w.expectEnded(c, winners[0])
}
