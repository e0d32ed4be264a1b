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
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/pquerna/otp/totp"
)

// factored is the fixture for tests of second factors. It adds SecondFactors to the fixture
// entrance, which can sign people in.
type factored struct {
	*entrance
	factors *people.SecondFactors
}

func eachFactored(t *testing.T, test func(t *testing.T, e *factored)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		e := &factored{entrance: newEntranceOn(t, db)}
		master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
		e.must(err)
		e.factors = people.NewSecondFactors(people.SecondFactorsConfig{Sessions: e.sessions, Master: master})
		test(t, e)
	})
}

func (e *factored) visitor(secret string) people.Visitor {
	e.t.Helper()
	v, err := e.sessions.Current(e.t.Context(), secret)
	e.must(err)
	return v
}

// code returns the code that the authenticator app shows the given number of time steps
// from now.
func (e *factored) code(key people.AppKey, steps int) string {
	e.t.Helper()
	code, err := totp.GenerateCode(key.Secret, e.clock().Add(time.Duration(steps)*30*time.Second))
	e.must(err)
	return code
}

// setUp adds an authenticator app in a new session. It uses the code of the present time
// step.
func (e *factored) setUp() (people.AppKey, people.Added) {
	e.t.Helper()
	v := e.visitor(e.signIn(""))
	key, err := e.factors.BeginApp(e.t.Context(), v)
	e.must(err)
	added, err := e.factors.ConfirmApp(e.t.Context(), v, e.code(key, 0), "r1")
	e.must(err)
	return key, added
}

func (e *factored) prove(secret, code string) (string, error) {
	e.t.Helper()
	return e.factors.Prove(e.t.Context(), secret, people.FactorProof{Code: code, RequestID: "r1"})
}

func (e *factored) wantCodeRefused(what, secret, code string) {
	e.t.Helper()
	_, err := e.prove(secret, code)
	e.wantCode(what, err, core.CodeValidationFailed)
}

func TestSettingUpAnApp(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx, secret := t.Context(), e.signIn("")
		v := e.visitor(secret)
		key, err := e.factors.BeginApp(ctx, v)
		e.must(err)
		if !strings.HasPrefix(key.URI, "otpauth://totp/Mailhelm:") || len(key.Secret) != 32 || !strings.Contains(key.URI, "issuer=Mailhelm") {
			t.Errorf("key %s of %d characters", key.URI[:30], len(key.Secret))
		}
		if again, err := e.factors.PendingApp(ctx, v); err != nil || again != key {
			t.Errorf("shown again it is another key, %v", err)
		}
		if has, err := e.factors.FactorsOf(ctx, e.user.ID); err != nil || has.Any() {
			t.Errorf("an app without a first code counts: %v", err)
		}
		_, err = e.factors.ConfirmApp(ctx, v, "000000", "r1")
		e.wantCode("a wrong first code", err, core.CodeValidationFailed)
		e.wantCodeRefused("a code of an app that is not confirmed", secret, e.code(key, 0))

		added, err := e.factors.ConfirmApp(ctx, v, " "+e.code(key, 0)[:3]+" "+e.code(key, 0)[3:], "r1")
		e.must(err)
		if added.Secret == secret || e.signedIn(secret) || !e.signedIn(added.Secret) {
			t.Error("the session has kept its secret")
		}
		if at := e.visitor(added.Secret).Session.SecondFactorAt; at == nil || !at.Equal(e.clock()) {
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
		_, err = e.factors.BeginApp(ctx, e.visitor(added.Secret))
		e.wantCode("a second app", err, core.CodeConflict)
		stored, err := e.db.Factors().AuthenticatorApp(ctx, e.user.ID)
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
		e.advance(time.Minute)
		begun, err := e.sessions.SignIn(ctx, people.SignInRequest{Email: ownersEmail, Password: ownersPassword, Client: "192.0.2.1"})
		e.must(err)
		if !begun.AwaitsSecondFactor || e.signedIn(begun.Secret) {
			t.Fatal("the password alone lets in")
		}
		e.wantCode("switching", e.sessions.SwitchOrg(ctx, begun.Secret, e.second.ID), core.CodeInvalidKey)
		e.must(e.sessions.SignOutEverywhere(ctx, begun.Secret, "r1"))
		if !e.signedIn(added.Secret) {
			t.Error("a session that awaits its second factor has ended others")
		}
		secret, err := e.prove(begun.Secret, e.code(key, 0))
		e.must(err)
		if secret == begun.Secret || e.signedIn(begun.Secret) || !e.signedIn(secret) {
			t.Error("the second factor has not replaced the secret")
		}

		begun, err = e.sessions.SignIn(ctx, people.SignInRequest{Email: ownersEmail, Password: ownersPassword, Client: "192.0.2.1"})
		e.must(err)
		e.must(e.sessions.SignOut(ctx, begun.Secret, "r1"))
		_, err = e.prove(begun.Secret, e.code(key, 1))
		e.wantCode("after signing out", err, core.CodeInvalidKey)

		begun, err = e.sessions.SignIn(ctx, people.SignInRequest{Email: ownersEmail, Password: ownersPassword, Client: "192.0.2.1"})
		e.must(err)
		e.advance(people.SecondFactorWait)
		_, err = e.prove(begun.Secret, e.code(key, 0))
		e.wantCode("after ten minutes", err, core.CodeInvalidKey)
	})
}

func TestCodesOfAnApp(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		key, added := e.setUp()
		e.advance(10 * time.Minute)
		before, present, after := e.code(key, -1), e.code(key, 0), e.code(key, 1)
		secret, err := e.prove(added.Secret, before)
		e.must(err)
		e.wantCodeRefused("a used code", secret, before)
		secret, err = e.prove(secret, after)
		e.must(err)
		e.wantCodeRefused("a code before the last one", secret, present)
		for _, wrong := range []string{e.code(key, -2), e.code(key, 2), ""} {
			e.wantCodeRefused("a wrong code", secret, wrong)
		}
		e.advance(time.Minute)
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
			e.advance(30 * time.Minute)
			if code == "" {
				code = e.code(key, 0)
			}
			sessions := []string{e.signIn(""), e.signIn(""), e.signIn("")}
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
				e.wantCode("the second use", err, core.CodeValidationFailed)
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
		e.advance(time.Minute)
		for i, guess := range []string{"000000", "AAAA-AAAA-AAAA-AAAA", "111111", "x", "222222"} {
			secret := added.Secret
			if i%2 == 0 {
				secret = e.signIn("") // a session in another browser
			}
			e.wantCodeRefused("a guess", secret, guess)
		}
		_, err := e.prove(e.signIn(""), e.code(key, 0))
		e.wantCode("the sixth try", err, core.CodeRateLimited)
		if wait := core.AsError(err).RetryAfter; wait < 4*time.Minute || wait > 6*time.Minute {
			t.Errorf("wait for %s", wait)
		}
		_, err = e.prove(added.Secret, added.RecoveryCodes[0])
		e.wantCode("a recovery code instead", err, core.CodeRateLimited)
		e.advance(5*time.Minute + time.Second)
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
		secret, err := e.prove(e.signIn(""), code)
		e.must(err)
		e.wantCodeRefused("a used recovery code", e.signIn(""), code)
		if has, err := e.factors.FactorsOf(ctx, e.user.ID); err != nil || has.CodesLeft != 9 {
			t.Errorf("%d left, %v", has.CodesLeft, err)
		}
		renewed, err := e.factors.RenewCodes(ctx, e.visitor(secret), "r1")
		e.must(err)
		e.wantCodeRefused("a replaced recovery code", secret, added.RecoveryCodes[1])
		if secret, err = e.prove(secret, renewed[9]); err != nil {
			t.Fatalf("a new recovery code: %v", err)
		}
		e.must(e.factors.RemoveApp(ctx, e.visitor(secret), "r1"))
		if has, err := e.factors.FactorsOf(ctx, e.user.ID); err != nil || has.Any() || has.CodesLeft != 0 {
			t.Errorf("after removing the app: %+v, %v", has, err)
		}
		begun, err := e.sessions.SignIn(ctx, people.SignInRequest{Email: ownersEmail, Password: ownersPassword})
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
		ctx, secret := t.Context(), e.signIn("")
		e.advance(people.ProofAge + time.Second)
		if _, err := e.factors.BeginApp(ctx, e.visitor(secret)); !people.IsProofNeeded(err) {
			t.Errorf("a first factor long after the password: %v", err)
		}
		key, added := e.setUp()
		e.advance(people.ProofAge + time.Second)
		v := e.visitor(added.Secret)
		if err := e.factors.RemoveApp(ctx, v, "r1"); !people.IsProofNeeded(err) {
			t.Errorf("removing: %v", err)
		}
		if _, err := e.factors.RenewCodes(ctx, v, "r1"); !people.IsProofNeeded(err) {
			t.Errorf("renewing codes: %v", err)
		}
		secret, err := e.prove(added.Secret, e.code(key, 0))
		e.must(err)
		e.must(e.factors.RemoveApp(ctx, e.visitor(secret), "r1"))
	})
}

func TestOrganizationSecondFactorRules(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		strict := e.second
		strict.RequireSecondFactor = true
		e.must(e.db.Orgs().SetOrgSettings(ctx, strict))
		want := func(what, secret string, admit, lately people.Demand) {
			t.Helper()
			gotAdmit, err := e.factors.Demand(ctx, e.visitor(secret))
			e.must(err)
			gotLately, err := e.factors.DemandLately(ctx, e.visitor(secret))
			e.must(err)
			if gotAdmit != admit || gotLately != lately {
				t.Errorf("%s: %q and %q, want %q and %q", what, gotAdmit, gotLately, admit, lately)
			}
		}
		plain := e.signIn("")
		want("another organization", plain, people.NoDemand, people.NoDemand)
		e.must(e.sessions.SwitchOrg(ctx, plain, e.second.ID))
		want("without a factor", plain, people.DemandSetUp, people.DemandSetUp)
		e.passkey("a")
		want("a session from before", plain, people.DemandProof, people.DemandProof)
		e.must(e.db.Passkeys().DeletePasskeysOf(ctx, e.user.ID))
		_, added := e.setUp()
		e.must(e.sessions.SwitchOrg(ctx, added.Secret, e.second.ID))
		e.advance(people.ProofAge)
		want("proven lately", added.Secret, people.NoDemand, people.NoDemand)
		e.advance(time.Second)
		want("proven long ago", added.Secret, people.NoDemand, people.DemandProof)
	})
}

func TestResettingSecondFactors(t *testing.T) {
	t.Parallel()
	eachFactored(t, func(t *testing.T, e *factored) {
		ctx := t.Context()
		_, added := e.setUp()
		e.must(people.ResetSecondFactors(ctx, e.sessions.SessionsConfig, access.ActorOf(access.Operator), e.user.ID))
		if e.signedIn(added.Secret) {
			t.Error("a session lives on")
		}
		if has, err := e.factors.FactorsOf(ctx, e.user.ID); err != nil || has.Any() || has.CodesLeft != 0 {
			t.Errorf("left: %+v, %v", has, err)
		}
		for _, org := range []core.Org{e.org, e.second} {
			events, err := e.db.Audit().AuditEvents(ctx, org.ID, 1)
			if err != nil || len(events) != 1 || events[0].Action != "user.second_factors_reset" || events[0].ActorKind != "operator" {
				t.Errorf("%s: %+v, %v", org.Name, events, err)
			}
		}
	})
}
