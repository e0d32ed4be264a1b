package passwordchange_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
	"github.com/pquerna/otp/totp"
)

func TestChangePassword(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		here, elsewhere := h.SignIn(password), h.SignIn(password)
		device, err := h.Attempts.Remember(ctx, h.User.ID, "")
		h.Must(err)
		phone, err := h.Attempts.Remember(ctx, h.User.ID, "")
		h.Must(err)
		h.Must(h.Passwords.AskReset(ctx, email, otherSide))
		h.Must(h.Work())
		link := linkIn(t, h.Sender.Take())

		change := passwordchange.Change{Session: h.Factors.SessionOf(h.Visitor(here)), Current: password, Next: fresh, Client: "192.0.2.1", Device: device, RequestID: "r1"}
		for what, wrong := range map[string]func(*passwordchange.Change){
			"a wrong password":   func(c *passwordchange.Change) { c.Current = "wrong" },
			"the same password":  func(c *passwordchange.Change) { c.Next = password },
			"a short one":        func(c *passwordchange.Change) { c.Next = "short" },
			"a common one":       func(c *passwordchange.Change) { c.Next = "Password1" },
			"one with the name":  func(c *passwordchange.Change) { c.Next = "mailhelm for ever" },
			"one with a address": func(c *passwordchange.Change) { c.Next = "my EXAMPLE of a phrase" },
		} {
			c := change
			wrong(&c)
			_, err := h.Passwords.Change(ctx, c)
			h.WantCode(what, err, core.CodeValidationFailed)
		}
		next, err := h.Passwords.Change(ctx, change)
		h.Must(err)
		if h.SignedIn(here) || h.SignedIn(elsewhere) || !h.SignedIn(next) {
			t.Error("after the change another session lives, or none")
		}
		h.WantCode("the old password", h.Try(email, password, otherSide, ""), core.CodeInvalidKey)
		h.Must(h.Try(email, fresh, otherSide, ""))
		_, err = h.Passwords.Resettable(ctx, link)
		h.WantCode("a link of before", err, core.CodeNotFound)
		for secret, known := range map[string]bool{device: true, phone: false} {
			if _, _, err := h.DB.People().Device(ctx, access.HashSecret(secret), h.Clock()); (err == nil) != known {
				t.Errorf("a device of before: %v, want known: %v", err, known)
			}
		}
		wantNotice(h, "was changed", "192.0.2.1")

		if _, err := h.Passwords.Change(ctx, passwordchange.Change{Session: change.Session, Current: fresh, Next: password}); core.AsError(err).Code != core.CodeInvalidKey {
			t.Errorf("in a session that has ended: %v", err)
		}
		h.Must(h.Try(email, fresh, otherSide, ""))
	})
}

// TestSecondFactorsStayInForce checks that a person with a second factor needs a recent
// proof of it to change the password, and keeps the factor after a reset of the password.
func TestSecondFactorsStayInForce(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		v := h.Visitor(h.SignIn(password))
		key, err := h.Factors.BeginApp(ctx, v)
		h.Must(err)
		code, err := totp.GenerateCode(key.Secret, h.Clock())
		h.Must(err)
		added, err := h.Factors.ConfirmApp(ctx, v, code, "r1")
		h.Must(err)
		change := passwordchange.Change{Session: h.Factors.SessionOf(h.Visitor(added.Secret)), Current: password, Next: fresh, Client: otherSide}
		h.Advance(11 * time.Minute)
		if _, err := h.Passwords.Change(ctx, change); !people.IsProofNeeded(err) {
			t.Errorf("with a proof of eleven minutes ago: %v", err)
		}
		proven, err := h.Factors.Prove(ctx, added.Secret, people.FactorProof{Code: added.RecoveryCodes[0]})
		h.Must(err)
		change.Session = h.Factors.SessionOf(h.Visitor(proven))
		if _, err := h.Passwords.Change(ctx, change); err != nil {
			t.Fatalf("with a fresh proof: %v", err)
		}
		h.Must(h.Work())
		h.Sender.Take()

		h.Must(h.Passwords.AskReset(ctx, email, otherSide))
		h.Must(h.Work())
		h.Must(h.Passwords.Reset(ctx, passwordchange.UseReset{Secret: linkIn(t, h.Sender.Take()), Next: password, Client: otherSide}))
		begun, err := h.Sessions.SignIn(ctx, people.SignInRequest{Email: email, Password: password, Client: otherSide})
		if err != nil || !begun.AwaitsSecondFactor {
			t.Errorf("after the reset: %+v, %v", begun, err)
		}
	})
}
