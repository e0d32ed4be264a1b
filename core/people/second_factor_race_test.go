package people_test

import (
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// runAtOnce runs the functions concurrently and returns their errors, in the same order.
func (e *factored) runAtOnce(tasks ...func() error) []error {
	outcomes := make([]error, len(tasks))
	var running sync.WaitGroup
	for i, task := range tasks {
		running.Go(func() { outcomes[i] = task() })
	}
	running.Wait()
	return outcomes
}

func (e *factored) passkey(name string) people.Passkey {
	e.T.Helper()
	p := people.Passkey{
		ID: core.NewID(), UserID: e.User.ID, CredentialID: []byte(name), Name: name, Credential: "{}", CreatedAt: e.Clock(),
	}
	e.Must(e.DB.Passkeys().InsertPasskey(e.T.Context(), p))
	return p
}

// TestChangesInSeveralBrowsers checks concurrent changes of one person's second factors.
// After renewals of the recovery codes, one set of ten is left. After all factors are
// removed, no recovery code is left.
func TestChangesInSeveralBrowsers(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		_, added := e.setUp()
		v := e.Visitor(added.Secret)
		renew := func() error { _, err := e.Factors.RenewCodes(ctx, v, "r1"); return err }
		for range 5 {
			for _, err := range e.runAtOnce(renew, renew, renew, renew) {
				e.Must(err)
			}
			if has, err := e.Factors.FactorsOf(ctx, e.User.ID); err != nil || has.CodesLeft != 10 {
				t.Errorf("renewed at once: %d codes, %v", has.CodesLeft, err)
			}
		}
		removals := []func() error{func() error { return e.Factors.RemoveApp(ctx, v, "r1") }}
		for _, name := range []string{"a", "b", "c", "d"} {
			p := e.passkey(name)
			removals = append(removals, func() error { return e.Factors.RemovePasskey(ctx, v, p.ID, "r1") })
		}
		for _, err := range e.runAtOnce(removals...) {
			e.Must(err)
		}
		if has, err := e.Factors.FactorsOf(ctx, e.User.ID); err != nil || has.Any() || has.CodesLeft != 0 {
			t.Errorf("all removed at once: %+v, %v", has, err)
		}
	})
}

// TestTwoBeginnersConfirmWhatTheyHave checks the confirmation of an authenticator app while
// another setup replaces its secret. Either the confirmation fails, or the confirmed secret
// is stored.
func TestTwoBeginnersConfirmWhatTheyHave(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		for range 8 {
			v := e.Visitor(e.SignIn(password))
			key, err := e.Factors.BeginApp(ctx, v)
			e.Must(err)
			var other people.AppKey
			outcomes := e.runAtOnce(
				func() error { _, err := e.Factors.ConfirmApp(ctx, v, e.code(key, 0), "r1"); return err },
				func() (err error) { other, err = e.Factors.BeginApp(ctx, v); return err },
			)
			has, err := e.Factors.FactorsOf(ctx, e.User.ID)
			e.Must(err)
			if confirmed := outcomes[0] == nil; confirmed != (has.App != nil) {
				t.Errorf("confirmed %v, has %v", confirmed, has.App != nil)
			}
			e.Advance(time.Minute)
			if has.App != nil {
				if _, err := e.prove(e.SignIn(password), e.code(key, 0)); err != nil {
					t.Errorf("the app that was confirmed is not the one: %v (the other began: %v)", err, other.Secret != "")
				}
			}
			e.Must(e.DB.Factors().DeleteAuthenticatorApp(ctx, e.User.ID))
			e.Advance(time.Hour)
		}
	})
}
