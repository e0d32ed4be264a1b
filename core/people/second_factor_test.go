package people_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
	"github.com/pquerna/otp/totp"
)

// factored is a House whose person sets up and uses second factors.
type factored struct{ *peopletest.House }

func eachFactored(t *testing.T, test func(t *testing.T, e *factored)) {
	t.Helper()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) { test(t, &factored{h}) })
}

// code returns the code that the authenticator app shows the given number of time steps
// from now.
func (e *factored) code(key people.AppKey, steps int) string {
	e.T.Helper()
	code, err := totp.GenerateCode(key.Secret, e.Clock().Add(time.Duration(steps)*30*time.Second))
	e.Must(err)
	return code
}

// setUp adds an authenticator app in a new session. It uses the code of the present time
// step.
func (e *factored) setUp() (people.AppKey, people.Added) {
	e.T.Helper()
	v := e.Visitor(e.SignIn(password))
	key, err := e.Factors.BeginApp(e.T.Context(), v)
	e.Must(err)
	added, err := e.Factors.ConfirmApp(e.T.Context(), v, e.code(key, 0), "r1")
	e.Must(err)
	return key, added
}

func (e *factored) prove(secret, code string) (string, error) {
	e.T.Helper()
	return e.Factors.Prove(e.T.Context(), secret, people.FactorProof{Code: code, RequestID: "r1"})
}

func (e *factored) wantCodeRefused(what, secret, code string) {
	e.T.Helper()
	_, err := e.prove(secret, code)
	e.WantCode(what, err, core.CodeValidationFailed)
}

func TestSettingUpAnApp(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx, secret := t.Context(), e.SignIn(password)
		v := e.Visitor(secret)
		key, err := e.Factors.BeginApp(ctx, v)
		e.Must(err)
		if !strings.HasPrefix(key.URI, "otpauth://totp/Mailhelm:") || len(key.Secret) != 32 || !strings.Contains(key.URI, "issuer=Mailhelm") {
			t.Errorf("key %s of %d characters", key.URI[:30], len(key.Secret))
		}
		if again, err := e.Factors.PendingApp(ctx, v); err != nil || again != key {
			t.Errorf("shown again it is another key, %v", err)
		}
		if has, err := e.Factors.FactorsOf(ctx, e.User.ID); err != nil || has.Any() {
			t.Errorf("an app without a first code counts: %v", err)
		}
		_, err = e.Factors.ConfirmApp(ctx, v, "000000", "r1")
		e.WantCode("a wrong first code", err, core.CodeValidationFailed)
		e.wantCodeRefused("a code of an app that is not confirmed", secret, e.code(key, 0))

		added, err := e.Factors.ConfirmApp(ctx, v, " "+e.code(key, 0)[:3]+" "+e.code(key, 0)[3:], "r1")
		e.Must(err)
		if added.Secret == secret || e.SignedIn(secret) || !e.SignedIn(added.Secret) {
			t.Error("the session has kept its secret")
		}
		if at := e.Visitor(added.Secret).Session.SecondFactorAt; at == nil || !at.Equal(e.Clock()) {
			t.Errorf("proven at %v", at)
		}
		unique := map[string]bool{}
		for _, code := range added.RecoveryCodes {
			unique[code] = len(code) == 19
		}
		if len(unique) != 10 || !unique[added.RecoveryCodes[0]] {
			t.Errorf("recovery codes %d", len(unique))
		}
		e.wantCodeRefused("the first code again", added.Secret, e.code(key, 0))
		_, err = e.Factors.BeginApp(ctx, e.Visitor(added.Secret))
		e.WantCode("a second app", err, core.CodeConflict)
		stored, err := e.DB.Factors().AuthenticatorApp(ctx, e.User.ID)
		if err != nil || bytes.Contains(stored.Sealed, []byte(key.Secret)) {
			t.Errorf("the secret is stored in the clear, %v", err)
		}
	})
}

func TestSessionAwaitingTheSecondFactorIsNotSignedIn(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		key, added := e.setUp()
		e.Advance(time.Minute)
		begun, err := e.Sessions.SignIn(ctx, people.SignInRequest{Email: email, Password: password, Client: "192.0.2.1"})
		e.Must(err)
		if !begun.AwaitsSecondFactor || e.SignedIn(begun.Secret) {
			t.Fatal("the password alone lets in")
		}
		e.WantCode("switching", e.Sessions.SwitchOrg(ctx, begun.Secret, e.Orgs[1].ID), core.CodeInvalidKey)
		e.Must(e.Sessions.SignOutEverywhere(ctx, begun.Secret, "r1"))
		if !e.SignedIn(added.Secret) {
			t.Error("a session that awaits its second factor has ended others")
		}
		secret, err := e.prove(begun.Secret, e.code(key, 0))
		e.Must(err)
		if secret == begun.Secret || e.SignedIn(begun.Secret) || !e.SignedIn(secret) {
			t.Error("the second factor has not replaced the secret")
		}

		begun, err = e.Sessions.SignIn(ctx, people.SignInRequest{Email: email, Password: password, Client: "192.0.2.1"})
		e.Must(err)
		e.Must(e.Sessions.SignOut(ctx, begun.Secret, "r1"))
		_, err = e.prove(begun.Secret, e.code(key, 1))
		e.WantCode("after signing out", err, core.CodeInvalidKey)

		begun, err = e.Sessions.SignIn(ctx, people.SignInRequest{Email: email, Password: password, Client: "192.0.2.1"})
		e.Must(err)
		e.Advance(people.SecondFactorWait)
		_, err = e.prove(begun.Secret, e.code(key, 0))
		e.WantCode("after ten minutes", err, core.CodeInvalidKey)
	})
}

func TestCodesOfAnApp(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		key, added := e.setUp()
		e.Advance(10 * time.Minute)
		before, present, after := e.code(key, -1), e.code(key, 0), e.code(key, 1)
		secret, err := e.prove(added.Secret, before)
		e.Must(err)
		e.wantCodeRefused("a used code", secret, before)
		secret, err = e.prove(secret, after)
		e.Must(err)
		e.wantCodeRefused("a code before the last one", secret, present)
		for _, wrong := range []string{e.code(key, -2), e.code(key, 2), ""} {
			e.wantCodeRefused("a wrong code", secret, wrong)
		}
		e.Advance(time.Minute)
		if _, err := e.prove(secret, e.code(key, 0)); err != nil {
			t.Errorf("the fifth try since the last success: %v", err)
		}
	})
}

func TestOneCodeTwoBrowsers(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		key, added := e.setUp()
		for _, code := range []string{"", added.RecoveryCodes[3]} {
			e.Advance(30 * time.Minute)
			if code == "" {
				code = e.code(key, 0)
			}
			sessions := []string{e.SignIn(password), e.SignIn(password), e.SignIn(password)}
			outcomes := make([]error, len(sessions))
			var running sync.WaitGroup
			for i, secret := range sessions {
				running.Go(func() { _, outcomes[i] = e.prove(secret, code) })
			}
			running.Wait()
			let := 0
			for _, err := range outcomes {
				if err == nil {
					let++
					continue
				}
				e.WantCode("the second use", err, core.CodeValidationFailed)
			}
			if let != 1 {
				t.Errorf("one code has let in %d", let)
			}
		}
	})
}

func TestGuessingCodes(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		key, added := e.setUp()
		e.Advance(time.Minute)
		for i, guess := range []string{"000000", "AAAA-AAAA-AAAA-AAAA", "111111", "x", "222222"} {
			secret := added.Secret
			if i%2 == 0 {
				secret = e.SignIn(password) // a session in another browser
			}
			e.wantCodeRefused("a guess", secret, guess)
		}
		_, err := e.prove(e.SignIn(password), e.code(key, 0))
		e.WantCode("the sixth try", err, core.CodeRateLimited)
		if wait := core.AsError(err).RetryAfter; wait < 4*time.Minute || wait > 6*time.Minute {
			t.Errorf("wait for %s", wait)
		}
		_, err = e.prove(added.Secret, added.RecoveryCodes[0])
		e.WantCode("a recovery code instead", err, core.CodeRateLimited)
		e.Advance(5*time.Minute + time.Second)
		if _, err = e.prove(added.Secret, e.code(key, 0)); err != nil {
			t.Errorf("after five minutes: %v", err)
		}
	})
}

func TestRecoveryCodeIsGoodOnce(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		_, added := e.setUp()
		code := strings.ToLower(strings.ReplaceAll(added.RecoveryCodes[0], "-", " "))
		secret, err := e.prove(e.SignIn(password), code)
		e.Must(err)
		e.wantCodeRefused("a used recovery code", e.SignIn(password), code)
		if has, err := e.Factors.FactorsOf(ctx, e.User.ID); err != nil || has.CodesLeft != 9 {
			t.Errorf("%d left, %v", has.CodesLeft, err)
		}
		renewed, err := e.Factors.RenewCodes(ctx, e.Visitor(secret), "r1")
		e.Must(err)
		e.wantCodeRefused("a replaced recovery code", secret, added.RecoveryCodes[1])
		if secret, err = e.prove(secret, renewed[9]); err != nil {
			t.Fatalf("a new recovery code: %v", err)
		}
		e.Must(e.Factors.RemoveApp(ctx, e.Visitor(secret), "r1"))
		if has, err := e.Factors.FactorsOf(ctx, e.User.ID); err != nil || has.Any() || has.CodesLeft != 0 {
			t.Errorf("after removing the app: %+v, %v", has, err)
		}
		begun, err := e.Sessions.SignIn(ctx, people.SignInRequest{Email: email, Password: password})
		if err != nil || begun.AwaitsSecondFactor {
			t.Errorf("without a factor: %+v, %v", begun.AwaitsSecondFactor, err)
		}
		var actions []string
		for _, line := range e.auditLines() {
			actions = append(actions, line.Action+" "+line.Detail)
		}
		want := []string{
			`user.signed_in {}`, `user.second_factor_added {"kind":"authenticator_app"}`,
			`user.second_factor_asked {}`, `user.recovery_code_used {"left":9}`, `user.signed_in {"second_factor":"recovery_code"}`,
			`user.second_factor_asked {}`, `user.recovery_codes_renewed {}`,
			`user.recovery_code_used {"left":9}`, `user.second_factor_proven {"second_factor":"recovery_code"}`,
			`user.second_factor_removed {"kind":"authenticator_app"}`, `user.signed_in {}`,
		}
		if diff := cmp.Diff(want, actions); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}

func TestChangesNeedARecentProof(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx, secret := t.Context(), e.SignIn(password)
		e.Advance(people.ProofAge + time.Second)
		if _, err := e.Factors.BeginApp(ctx, e.Visitor(secret)); !people.IsProofNeeded(err) {
			t.Errorf("a first factor long after the password: %v", err)
		}
		key, added := e.setUp()
		e.Advance(people.ProofAge + time.Second)
		v := e.Visitor(added.Secret)
		if err := e.Factors.RemoveApp(ctx, v, "r1"); !people.IsProofNeeded(err) {
			t.Errorf("removing: %v", err)
		}
		if _, err := e.Factors.RenewCodes(ctx, v, "r1"); !people.IsProofNeeded(err) {
			t.Errorf("renewing codes: %v", err)
		}
		secret, err := e.prove(added.Secret, e.code(key, 0))
		e.Must(err)
		e.Must(e.Factors.RemoveApp(ctx, e.Visitor(secret), "r1"))
	})
}

func TestOrganizationSecondFactorRules(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		strict := e.Orgs[1]
		strict.RequireSecondFactor = true
		e.Must(e.DB.Orgs().SetOrgSettings(ctx, strict))
		want := func(what, secret string, admit, lately people.Demand) {
			t.Helper()
			gotAdmit, err := e.Factors.Demand(ctx, e.Visitor(secret))
			e.Must(err)
			gotLately, err := e.Factors.DemandLately(ctx, e.Visitor(secret))
			e.Must(err)
			if gotAdmit != admit || gotLately != lately {
				t.Errorf("%s: %q and %q, want %q and %q", what, gotAdmit, gotLately, admit, lately)
			}
		}
		plain := e.SignIn(password)
		want("another organization", plain, people.NoDemand, people.NoDemand)
		e.Must(e.Sessions.SwitchOrg(ctx, plain, e.Orgs[1].ID))
		want("without a factor", plain, people.DemandSetUp, people.DemandSetUp)
		e.passkey("a")
		want("a session from before", plain, people.DemandProof, people.DemandProof)
		e.Must(e.DB.Passkeys().DeletePasskeysOf(ctx, e.User.ID))
		_, added := e.setUp()
		e.Must(e.Sessions.SwitchOrg(ctx, added.Secret, e.Orgs[1].ID))
		e.Advance(people.ProofAge)
		want("proven lately", added.Secret, people.NoDemand, people.NoDemand)
		e.Advance(time.Second)
		want("proven long ago", added.Secret, people.NoDemand, people.DemandProof)
	})
}

func TestResettingSecondFactors(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		_, added := e.setUp()
		e.Must(people.ResetSecondFactors(ctx, e.Sessions.SessionsConfig, access.ActorOf(access.Operator), e.User.ID))
		if e.SignedIn(added.Secret) {
			t.Error("a session lives on")
		}
		if has, err := e.Factors.FactorsOf(ctx, e.User.ID); err != nil || has.Any() || has.CodesLeft != 0 {
			t.Errorf("left: %+v, %v", has, err)
		}
		for _, org := range []core.Org{e.Orgs[0], e.Orgs[1]} {
			events, err := e.DB.Audit().FindAudit(ctx, org.ID, access.AuditFilter{Limit: 1})
			if err != nil || len(events) != 1 || events[0].Action != "user.second_factors_reset" || events[0].ActorKind != "operator" {
				t.Errorf("%s: %+v, %v", org.Name, events, err)
			}
		}
	})
}
