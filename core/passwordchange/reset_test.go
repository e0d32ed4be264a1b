package passwordchange_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
)

func TestResetPassword(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx, session := t.Context(), h.SignIn(password)
		device, err := h.Attempts.Remember(ctx, h.User.ID, "")
		h.Must(err)
		for _, address := range []string{email, strings.ToUpper(email), "nobody@example.org"} {
			h.Must(h.Passwords.AskReset(ctx, address, otherSide))
		}
		if left := len(h.Queue.Jobs); left != 3 {
			t.Errorf("%d jobs for three addresses", left)
		}
		h.Must(h.Work())
		letters := h.Sender.Take()
		if len(letters) != 2 || letters[0].To != email || letters[1].To != email {
			t.Fatalf("letters %+v", letters)
		}
		h.WantAudited("user.password_reset_asked", "system")
		first, second := linkIn(t, letters[:1]), linkIn(t, letters[1:])
		if user, err := h.Passwords.Resettable(ctx, first); err != nil || user.ID != h.User.ID {
			t.Errorf("the link: %v", err)
		}
		use := passwordchange.UseReset{Secret: first, Next: "password1", Client: otherSide, RequestID: "r1"}
		h.WantCode("a common password", h.Passwords.Reset(ctx, use), core.CodeValidationFailed)
		use.Next = fresh
		h.Must(h.Passwords.Reset(ctx, use))
		if h.SignedIn(session) {
			t.Error("a session outlives the reset")
		}
		h.Must(h.Try(email, fresh, otherSide, ""))
		h.WantCode("the old password", h.Try(email, password, otherSide, ""), core.CodeInvalidKey)
		for what, secret := range map[string]string{
			"used": first, "of before": second, "invented": strings.Repeat("A", 52), "none": "", "NUL": "\x00", "lower case": strings.ToLower(second),
		} {
			h.WantCode(what, h.Passwords.Reset(ctx, passwordchange.UseReset{Secret: secret, Next: fresh + " again"}), core.CodeNotFound)
			_, err := h.Passwords.Resettable(ctx, secret)
			h.WantCode(what+", opened", err, core.CodeNotFound)
		}
		if _, _, err := h.DB.People().Device(ctx, access.HashSecret(device), h.Clock()); core.AsError(err).Code != core.CodeNotFound {
			t.Errorf("a device of before: %v", err)
		}
		wantNotice(h, "was reset", otherSide)
	})
}

// TestLinksOfResets checks that a link that resets a password is valid for 15 minutes and
// can be used once, even by concurrent calls. Any change of the password makes it invalid.
func TestLinksOfResets(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		link := func() string {
			t.Helper()
			h.Must(h.Passwords.AskReset(ctx, email, otherSide))
			h.Must(h.Work())
			return linkIn(t, h.Sender.Take())
		}
		old := link()
		h.Advance(passwordchange.ResetLifetime - time.Second)
		_, err := h.Passwords.Resettable(ctx, old)
		h.Must(err)
		h.Advance(time.Second)
		h.WantCode("after 15 minutes", h.Passwords.Reset(ctx, passwordchange.UseReset{Secret: old, Next: fresh}), core.CodeNotFound)

		contested := link()
		outcomes := make(chan error)
		for range 4 {
			go func() {
				outcomes <- h.Passwords.Reset(ctx, passwordchange.UseReset{Secret: contested, Next: fresh})
			}()
		}
		won := 0
		for range 4 {
			if err := <-outcomes; err == nil {
				won++
			} else {
				h.WantCode("the others", err, core.CodeNotFound)
			}
		}
		if won != 1 {
			t.Errorf("%d of 4 used one link", won)
		}
		h.Must(h.Work())
		h.Sender.Take()

		h.Advance(10 * time.Minute)
		late := link()
		h.Must(passwordchange.SetPassword(ctx, h.Stores, access.ActorOf(access.Operator), h.User, "the operator's choice"))
		h.WantCode("after another change", h.Passwords.Reset(ctx, passwordchange.UseReset{Secret: late, Next: fresh}), core.CodeNotFound)
		h.WantAudited("user.password_set", "operator")
		wantNotice(h, "set by the operator", "05:31")
		h.Must(h.Try(email, "the operator's choice", otherSide, ""))
	})
}

// TestAskingForLinksIsLimited checks that the limit on requests for reset links of one
// address counts each network separately. A person has at most five valid links. A letter
// that could not be sent is retried until its link expires.
func TestAskingForLinksIsLimited(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		for _, address := range []string{email, "nobody@example.org"} {
			for range 3 {
				h.Must(h.Passwords.AskReset(ctx, address, otherSide))
			}
			h.WantCode("the fourth for "+address, h.Passwords.AskReset(ctx, address, otherSide), core.CodeRateLimited)
		}
		for range 3 {
			h.Must(h.Passwords.AskReset(ctx, email, "198.51.100.2"))
		}
		h.Must(h.Work())
		if letters := h.Sender.Take(); len(letters) != 5 {
			t.Errorf("%d letters", len(letters))
		}
		h.WantCode("what is no address", h.Passwords.AskReset(ctx, "Ada", "198.51.100.3"), core.CodeValidationFailed)
		h.Advance(passwordchange.ResetLifetime)
		h.Must(h.Passwords.AskReset(ctx, email, "198.51.100.3"))
		asked := h.Queue.Take()[0].(passwordchange.AskResetArgs)
		h.Sender.Err = core.Conflict("down", "")
		if err := h.ResetMail.Worker().Work(ctx, asked); err == nil {
			t.Error("a letter that was not sent is forgotten")
		}
		h.Sender.Err = nil
		h.Advance(passwordchange.ResetLifetime + time.Second)
		h.Must(h.ResetMail.Worker().Work(ctx, asked))
		if letters := h.Sender.Take(); len(letters) != 0 {
			t.Errorf("sent too late: %+v", letters)
		}
	})
}
