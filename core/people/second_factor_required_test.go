package people_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// require makes the organization require second factors of its members.
func (e *factored) require(org core.Org) {
	e.t.Helper()
	org.RequireSecondFactor = true
	e.must(e.db.Orgs().SetOrgSettings(e.t.Context(), org))
}

// TestTheLastFactorStaysWhereItIsRequired checks that a person cannot remove the last
// second factor while any organization of the person requires one. That also holds in a
// session of another organization.
func TestTheLastFactorStaysWhereItIsRequired(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		_, added := e.setUp()
		v := e.visitor(added.Secret)
		e.require(e.second)
		p := e.passkey("a")
		e.must(e.factors.RemoveApp(ctx, v, "r1"))
		err := e.factors.RemovePasskey(ctx, v, p.ID, "r1")
		e.wantCode("the last factor", err, core.CodeConflict)
		if said := core.AsError(err); !strings.Contains(said.Message, "Zeta") || strings.Contains(said.Message, "Acme") || !strings.Contains(said.NextStep(), "Add another factor first") {
			t.Errorf("refused with %q %q", said.Message, said.NextStep())
		}
		if has, err := e.factors.FactorsOf(ctx, e.user.ID); err != nil || len(has.Passkeys) != 1 || has.CodesLeft != 10 {
			t.Errorf("after the refusal: %+v, %v", has, err)
		}
		e.must(e.db.Members().RemoveMember(ctx, e.second.ID, e.user.ID))
		e.must(e.factors.RemovePasskey(ctx, v, p.ID, "r1"))
	})
}

// TestOneFactorIsLeftOfRemovalsAtOnce removes all second factors of a person in concurrent
// calls. If the organization requires a second factor, one call must fail.
func TestOneFactorIsLeftOfRemovalsAtOnce(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		_, added := e.setUp()
		v := e.visitor(added.Secret)
		e.require(e.org)
		removals := []func() error{func() error { return e.factors.RemoveApp(ctx, v, "r1") }}
		for _, name := range []string{"a", "b", "c"} {
			p := e.passkey(name)
			removals = append(removals, func() error { return e.factors.RemovePasskey(ctx, v, p.ID, "r1") })
		}
		refused := 0
		for _, err := range e.runAtOnce(removals...) {
			if err != nil {
				e.wantCode("the last removal", err, core.CodeConflict)
				refused++
			}
		}
		if has, err := e.factors.FactorsOf(ctx, e.user.ID); err != nil || !has.Any() || refused != 1 {
			t.Errorf("%d refused, left: %+v, %v", refused, has, err)
		}
	})
}

// TestTheFirstFactorEndsOtherSessions checks that adding the first second factor ends
// sessions that began with only a password, and that adding later factors does not end
// sessions.
func TestTheFirstFactorEndsOtherSessions(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		others := []string{e.signIn(""), e.signIn("")}
		key, added := e.setUp()
		for _, other := range others {
			if e.signedIn(other) {
				t.Error("a session of the password alone lives on")
			}
		}
		if !e.signedIn(added.Secret) {
			t.Fatal("the session that set the factor up has ended")
		}
		if last := e.auditLines()[len(e.auditLines())-1]; last.Action != "user.second_factor_added" || last.Detail != `{"kind":"authenticator_app","sessions_ended":2}` {
			t.Errorf("audit line %+v", last)
		}
		e.advance(people.ProofAge)
		there, err := e.prove(e.signIn(""), e.code(key, 0))
		e.must(err)
		e.must(e.db.Factors().DeleteAuthenticatorApp(t.Context(), e.user.ID))
		e.passkey("a")
		v := e.visitor(there)
		key, err = e.factors.BeginApp(t.Context(), v)
		e.must(err)
		if _, err = e.factors.ConfirmApp(t.Context(), v, e.code(key, 0), "r1"); err != nil || !e.signedIn(added.Secret) {
			t.Errorf("another factor has ended sessions, or failed: %v", err)
		}
	})
}

// TestASignInBesideTheFirstFactor checks a sign-in with a password whose session begins
// just after the person's first second factor was added. The session must not be usable
// before the person has confirmed with that factor. Adding the factor ended only earlier
// sessions.
func TestASignInBesideTheFirstFactor(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		config := e.sessions.SessionsConfig
		config.Tx = before{e.db, func() { e.setUp() }}
		begun, err := people.NewSessions(config).SignIn(t.Context(), people.SignInRequest{Email: ownersEmail, Password: ownersPassword})
		e.must(err)
		if !begun.AwaitsSecondFactor || e.signedIn(begun.Secret) {
			t.Error("the password alone lets in beside the first factor")
		}
	})
}
