package people_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/pquerna/otp/totp"
)

func TestChangePassword(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		here, elsewhere := h.signIn(password), h.signIn(password)
		device, err := h.attempts.Remember(ctx, h.user.ID, "")
		h.must(err)
		phone, err := h.attempts.Remember(ctx, h.user.ID, "")
		h.must(err)
		h.must(h.passwords.AskReset(ctx, email, otherSide))
		h.must(h.work())
		link := linkIn(t, h.sender.take())

		change := people.Change{Visitor: h.visitor(here), Current: password, Next: fresh, Client: "192.0.2.1", Device: device, RequestID: "r1"}
		for what, wrong := range map[string]func(*people.Change){
			"a wrong password":   func(c *people.Change) { c.Current = "wrong" },
			"the same password":  func(c *people.Change) { c.Next = password },
			"a short one":        func(c *people.Change) { c.Next = "short" },
			"a common one":       func(c *people.Change) { c.Next = "Password1" },
			"one with the name":  func(c *people.Change) { c.Next = "mailhelm for ever" },
			"one with a address": func(c *people.Change) { c.Next = "my EXAMPLE of a phrase" },
		} {
			c := change
			wrong(&c)
			_, err := h.passwords.Change(ctx, c)
			h.wantCode(what, err, core.CodeValidationFailed)
		}
		next, err := h.passwords.Change(ctx, change)
		h.must(err)
		if h.signedIn(here) || h.signedIn(elsewhere) || !h.signedIn(next) {
			t.Error("after the change another session lives, or none")
		}
		h.wantCode("the old password", h.try(email, password, otherSide, ""), core.CodeInvalidKey)
		h.must(h.try(email, fresh, otherSide, ""))
		_, err = h.passwords.Resettable(ctx, link)
		h.wantCode("a link of before", err, core.CodeNotFound)
		for secret, known := range map[string]bool{device: true, phone: false} {
			if _, _, err := h.db.People().Device(ctx, access.HashSecret(secret), h.clock()); (err == nil) != known {
				t.Errorf("a device of before: %v, want known: %v", err, known)
			}
		}
		h.wantNotice("was changed", "192.0.2.1")

		if _, err := h.passwords.Change(ctx, people.Change{Visitor: change.Visitor, Current: fresh, Next: password}); core.AsError(err).Code != core.CodeInvalidKey {
			t.Errorf("in a session that has ended: %v", err)
		}
		h.must(h.try(email, fresh, otherSide, ""))
	})
}

// wantNotice runs the waiting jobs and checks that they send exactly one letter, with this
// subject and text.
func (h *house) wantNotice(subject, text string) {
	h.t.Helper()
	h.must(h.work())
	letters := h.sender.take()
	if len(letters) != 1 || letters[0].To != email || !strings.Contains(letters[0].Subject, subject) ||
		!strings.Contains(letters[0].Text, text) || !strings.Contains(letters[0].Text, "https://app.test/security") {
		h.t.Errorf("letters %+v", letters)
	}
}

// linkIn returns the secret in the link of the only letter. It fails the test if there is
// another number of letters.
func linkIn(t *testing.T, letters []letters.Letter) string {
	t.Helper()
	if len(letters) != 1 {
		t.Fatalf("%d letters: %+v", len(letters), letters)
	}
	_, after, found := strings.Cut(letters[0].Text, "https://app.test/reset?token=")
	secret, _, _ := strings.Cut(after, "\n")
	if !found || !access.IsLink(secret) || !strings.Contains(letters[0].HTML, `<a href="https://app.test/reset?token=`+secret+`">`) {
		t.Fatalf("no link in %+v", letters[0])
	}
	return secret
}

// TestSecondFactorsStayInForce checks that a person with a second factor needs a recent
// proof of it to change the password, and keeps the factor after a reset of the password.
func TestSecondFactorsStayInForce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		v := h.visitor(h.signIn(password))
		key, err := h.factors.BeginApp(ctx, v)
		h.must(err)
		code, err := totp.GenerateCode(key.Secret, h.clock())
		h.must(err)
		added, err := h.factors.ConfirmApp(ctx, v, code, "r1")
		h.must(err)
		change := people.Change{Visitor: h.visitor(added.Secret), Current: password, Next: fresh, Client: otherSide}
		h.advance(11 * time.Minute)
		if _, err := h.passwords.Change(ctx, change); !people.IsProofNeeded(err) {
			t.Errorf("with a proof of eleven minutes ago: %v", err)
		}
		proven, err := h.factors.Prove(ctx, added.Secret, people.FactorProof{Code: added.RecoveryCodes[0]})
		h.must(err)
		change.Visitor = h.visitor(proven)
		if _, err := h.passwords.Change(ctx, change); err != nil {
			t.Fatalf("with a fresh proof: %v", err)
		}
		h.must(h.work())
		h.sender.take()

		h.must(h.passwords.AskReset(ctx, email, otherSide))
		h.must(h.work())
		h.must(h.passwords.Reset(ctx, people.UseReset{Secret: linkIn(t, h.sender.take()), Next: password, Client: otherSide}))
		begun, err := h.sessions.SignIn(ctx, people.SignInRequest{Email: email, Password: password, Client: otherSide})
		if err != nil || !begun.AwaitsSecondFactor {
			t.Errorf("after the reset: %+v, %v", begun, err)
		}
	})
}

func TestResetPassword(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ctx, session := t.Context(), h.signIn(password)
		device, err := h.attempts.Remember(ctx, h.user.ID, "")
		h.must(err)
		for _, address := range []string{email, strings.ToUpper(email), "nobody@example.org"} {
			h.must(h.passwords.AskReset(ctx, address, otherSide))
		}
		if left := len(h.queue.jobs); left != 3 {
			t.Errorf("%d jobs for three addresses", left)
		}
		h.must(h.work())
		letters := h.sender.take()
		if len(letters) != 2 || letters[0].To != email || letters[1].To != email {
			t.Fatalf("letters %+v", letters)
		}
		h.wantAudited("user.password_reset_asked", "system")
		first, second := linkIn(t, letters[:1]), linkIn(t, letters[1:])
		if user, err := h.passwords.Resettable(ctx, first); err != nil || user.ID != h.user.ID {
			t.Errorf("the link: %v", err)
		}
		use := people.UseReset{Secret: first, Next: "password1", Client: otherSide, RequestID: "r1"}
		h.wantCode("a common password", h.passwords.Reset(ctx, use), core.CodeValidationFailed)
		use.Next = fresh
		h.must(h.passwords.Reset(ctx, use))
		if h.signedIn(session) {
			t.Error("a session outlives the reset")
		}
		h.must(h.try(email, fresh, otherSide, ""))
		h.wantCode("the old password", h.try(email, password, otherSide, ""), core.CodeInvalidKey)
		for what, secret := range map[string]string{
			"used": first, "of before": second, "invented": strings.Repeat("A", 52), "none": "", "NUL": "\x00", "lower case": strings.ToLower(second),
		} {
			h.wantCode(what, h.passwords.Reset(ctx, people.UseReset{Secret: secret, Next: fresh + " again"}), core.CodeNotFound)
			_, err := h.passwords.Resettable(ctx, secret)
			h.wantCode(what+", opened", err, core.CodeNotFound)
		}
		if _, _, err := h.db.People().Device(ctx, access.HashSecret(device), h.clock()); core.AsError(err).Code != core.CodeNotFound {
			t.Errorf("a device of before: %v", err)
		}
		h.wantNotice("was reset", otherSide)
	})
}

// TestLinksOfResets checks that a link that resets a password is valid for 15 minutes and
// can be used once, even by concurrent calls. Any change of the password makes it invalid.
func TestLinksOfResets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		link := func() string {
			t.Helper()
			h.must(h.passwords.AskReset(ctx, email, otherSide))
			h.must(h.work())
			return linkIn(t, h.sender.take())
		}
		old := link()
		h.advance(people.ResetLifetime - time.Second)
		_, err := h.passwords.Resettable(ctx, old)
		h.must(err)
		h.advance(time.Second)
		h.wantCode("after 15 minutes", h.passwords.Reset(ctx, people.UseReset{Secret: old, Next: fresh}), core.CodeNotFound)

		contested := link()
		outcomes := make(chan error)
		for range 4 {
			go func() {
				outcomes <- h.passwords.Reset(ctx, people.UseReset{Secret: contested, Next: fresh})
			}()
		}
		won := 0
		for range 4 {
			if err := <-outcomes; err == nil {
				won++
			} else {
				h.wantCode("the others", err, core.CodeNotFound)
			}
		}
		if won != 1 {
			t.Errorf("%d of 4 used one link", won)
		}
		h.must(h.work())
		h.sender.take()

		h.advance(10 * time.Minute)
		late := link()
		h.must(people.SetPassword(ctx, people.OperatorConfig{Sessions: h.sessions.SessionsConfig, Store: h.db.People(), Queue: h.queue},
			access.ActorOf(access.Operator), h.user, "the operator's choice"))
		h.wantCode("after another change", h.passwords.Reset(ctx, people.UseReset{Secret: late, Next: fresh}), core.CodeNotFound)
		h.wantAudited("user.password_set", "operator")
		h.wantNotice("set by the operator", "05:31")
		h.must(h.try(email, "the operator's choice", otherSide, ""))
	})
}

// TestAskingForLinksIsLimited checks that requests for reset links are limited by network,
// never for an address as a whole. A person has at most five valid links. A letter that
// could not be sent is retried until its link expires.
func TestAskingForLinksIsLimited(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		for _, address := range []string{email, "nobody@example.org"} {
			for range 3 {
				h.must(h.passwords.AskReset(ctx, address, otherSide))
			}
			h.wantCode("the fourth for "+address, h.passwords.AskReset(ctx, address, otherSide), core.CodeRateLimited)
		}
		for range 3 {
			h.must(h.passwords.AskReset(ctx, email, "198.51.100.2"))
		}
		h.must(h.work())
		if letters := h.sender.take(); len(letters) != 5 {
			t.Errorf("%d letters", len(letters))
		}
		h.wantCode("what is no address", h.passwords.AskReset(ctx, "Ada", "198.51.100.3"), core.CodeValidationFailed)
		h.advance(people.ResetLifetime)
		h.must(h.passwords.AskReset(ctx, email, "198.51.100.3"))
		asked := h.queue.take()[0].(people.AskResetArgs)
		h.sender.err = core.Conflict("down", "")
		if err := h.mail.AskResetWorker().Work(ctx, asked); err == nil {
			t.Error("a letter that was not sent is forgotten")
		}
		h.sender.err = nil
		h.advance(people.ResetLifetime + time.Second)
		h.must(h.mail.AskResetWorker().Work(ctx, asked))
		if letters := h.sender.take(); len(letters) != 0 {
			t.Errorf("sent too late: %+v", letters)
		}
	})
}

// TestASignInBesideAChange checks a sign-in with the old password while another call
// changes the password. The sign-in verifies the old password before the change and would
// begin a session after the change. It must fail, because the change ends only the sessions
// that exist at its time.
func TestASignInBesideAChange(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		config := h.sessions.SessionsConfig
		config.Tx = before{h.db, func() {
			h.must(people.SetPassword(t.Context(), people.OperatorConfig{Sessions: h.sessions.SessionsConfig, Store: h.db.People(), Queue: h.queue},
				access.ActorOf(access.Operator), h.user, fresh))
		}}
		_, err := people.NewSessions(config).SignIn(t.Context(), people.SignInRequest{Email: email, Password: password})
		h.wantCode("the old password", err, core.CodeInvalidKey)
	})
}
