package people_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// require makes the organization require second factors of its members.
func (e *factored) require(org core.Org) {
	e.T.Helper()
	org.RequireSecondFactor = true
	e.Must(e.DB.Orgs().SetOrgSettings(e.T.Context(), org))
}

// TestTheLastFactorStaysWhereItIsRequired checks that a person cannot remove the last
// second factor while any organization of the person requires one. That also holds in a
// session of another organization.
func TestTheLastFactorStaysWhereItIsRequired(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		_, added := e.setUp()
		v := e.Visitor(added.Secret)
		e.require(e.Orgs[1])
		p := e.passkey("a")
		e.Must(e.Factors.RemoveApp(ctx, v, "r1"))
		err := e.Factors.RemovePasskey(ctx, v, p.ID, "r1")
		e.WantCode("the last factor", err, core.CodeConflict)
		if said := core.AsError(err); !strings.Contains(said.Message, "Zeta") || strings.Contains(said.Message, "Acme") || !strings.Contains(said.NextStep(), "Add another factor first") {
			t.Errorf("refused with %q %q", said.Message, said.NextStep())
		}
		if has, err := e.Factors.FactorsOf(ctx, e.User.ID); err != nil || len(has.Passkeys) != 1 || has.CodesLeft != 10 {
			t.Errorf("after the refusal: %+v, %v", has, err)
		}
		e.Must(e.DB.Members().RemoveMember(ctx, e.Orgs[1].ID, e.User.ID))
		e.Must(e.Factors.RemovePasskey(ctx, v, p.ID, "r1"))
	})
}

// TestOneFactorIsLeftOfRemovalsAtOnce removes all second factors of a person in concurrent
// calls. If the organization requires a second factor, one call must fail.
func TestOneFactorIsLeftOfRemovalsAtOnce(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		_, added := e.setUp()
		v := e.Visitor(added.Secret)
		e.require(e.Orgs[0])
		removals := []func() error{func() error { return e.Factors.RemoveApp(ctx, v, "r1") }}
		for _, name := range []string{"a", "b", "c"} {
			p := e.passkey(name)
			removals = append(removals, func() error { return e.Factors.RemovePasskey(ctx, v, p.ID, "r1") })
		}
		refused := 0
		for _, err := range e.runAtOnce(removals...) {
			if err != nil {
				e.WantCode("the last removal", err, core.CodeConflict)
				refused++
			}
		}
		if has, err := e.Factors.FactorsOf(ctx, e.User.ID); err != nil || !has.Any() || refused != 1 {
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
		others := []string{e.SignIn(password), e.SignIn(password)}
		key, added := e.setUp()
		for _, other := range others {
			if e.SignedIn(other) {
				t.Error("a session of the password alone lives on")
			}
		}
		if !e.SignedIn(added.Secret) {
			t.Fatal("the session that set the factor up has ended")
		}
		if last := e.auditLines()[len(e.auditLines())-1]; last.Action != "user.second_factor_added" || last.Detail != `{"kind":"authenticator_app","sessions_ended":2}` {
			t.Errorf("audit line %+v", last)
		}
		e.Advance(people.ProofAge)
		there, err := e.prove(e.SignIn(password), e.code(key, 0))
		e.Must(err)
		e.Must(e.DB.Factors().DeleteAuthenticatorApp(t.Context(), e.User.ID))
		e.passkey("a")
		v := e.Visitor(there)
		key, err = e.Factors.BeginApp(t.Context(), v)
		e.Must(err)
		if _, err = e.Factors.ConfirmApp(t.Context(), v, e.code(key, 0), "r1"); err != nil || !e.SignedIn(added.Secret) {
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
		config := e.Sessions.SessionsConfig
		config.Tx = before{e.DB, func() { e.setUp() }}
		begun, err := people.NewSessions(config).SignIn(t.Context(), people.SignInRequest{Email: email, Password: password})
		e.Must(err)
		if !begun.AwaitsSecondFactor || e.SignedIn(begun.Secret) {
			t.Error("the password alone lets in beside the first factor")
		}
	})
}
