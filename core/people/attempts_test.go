package people_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attempts"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
)

// TestGuessingFromOneNetworkEnds checks that after ten attempts for one address, further
// attempts from the same network are refused, even with the right password and with the
// address in upper case. This holds for addresses with and without an account. After the
// wait that the error states, the network may try again.
func TestGuessingFromOneNetworkEnds(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		for _, address := range []string{email, "nobody@example.org"} {
			client := "203.0.113.9 for " + address
			for range 10 {
				in := attempt(client, "")
				in.Email = address
				h.Must(h.Attempts.Admit(t.Context(), in))
			}
			refused := core.AsError(h.Try(strings.ToUpper(address), password, client, ""))
			if refused.Code != core.CodeRateLimited || refused.RetryAfter <= 0 || refused.RetryAfter > time.Minute {
				t.Errorf("%s: %v, again in %v", address, refused, refused.RetryAfter)
			}
			h.Advance(refused.RetryAfter)
			h.WantCode("after the wait", h.Try(address, "wrong", client, ""), core.CodeInvalidKey)
		}
	})
}

// TestDistributedPasswordGuessingLocksNoAccount checks that many attempts at one address
// from many networks do not lock out its owner. The owner can sign in from a new network,
// and on a known device even in a network that has used up its attempts. After the first
// 100 attempts, each network has three attempts at the address instead of ten.
func TestDistributedPasswordGuessingLocksNoAccount(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		device, err := h.Attempts.Remember(t.Context(), h.User.ID, "")
		h.Must(err)
		for i := range 100 {
			h.Must(h.Attempts.Admit(t.Context(), attempt(fmt.Sprint("bot ", i/2), "")))
		}
		for i := range 4 {
			err := h.Attempts.Admit(t.Context(), attempt("bot 1000", ""))
			if i < 3 {
				h.Must(err)
				continue
			}
			h.WantCode("the fourth of a network under attack", err, core.CodeRateLimited)
			if wait := core.AsError(err).RetryAfter; wait != 5*time.Minute {
				t.Errorf("again in %v", wait)
			}
		}
		if err := h.Try(email, password, "a network of the owner's", ""); err != nil {
			t.Errorf("the owner in a new network: %v", err)
		}
		for range 40 {
			_ = h.Attempts.AdmitFrom("a café")
		}
		h.WantCode("a stranger in a network that is used up", h.Try(email, password, "a café", ""), core.CodeRateLimited)
		h.WantCode("with an invented device", h.Try(email, password, "a café", strings.Repeat("A", 52)), core.CodeRateLimited)
		if err := h.Try(email, password, "a café", device); err != nil {
			t.Errorf("the owner's device in a network that is used up: %v", err)
		}
	})
}

// TestDevices checks that a device that is known for a person has a limit of its own on
// attempts to sign in as this person. Attempts on the device to sign in as another person
// are limited like those on an unknown device.
func TestDevices(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		device, err := h.Attempts.Remember(ctx, h.User.ID, strings.Repeat("A", 52))
		h.Must(err)
		if device == strings.Repeat("A", 52) {
			t.Error("an invented secret became a device's")
		}
		if again, err := h.Attempts.Remember(ctx, h.User.ID, device); err != nil || again != device {
			t.Errorf("a known device gets %q, %v", again, err)
		}
		for range 10 {
			h.Must(h.Attempts.Admit(ctx, attempt(otherSide, device)))
		}
		h.WantCode("the device's attempt 11", h.Try(email, password, otherSide, device), core.CodeRateLimited)
		if err := h.Try(email, password, otherSide, ""); err != nil {
			t.Errorf("without the device, the network is not used up: %v", err)
		}

		mallory := h.User
		mallory.ID, mallory.Email = core.NewID(), "mallory@example.org"
		h.Must(h.DB.Users().InsertUser(ctx, mallory))
		planted, err := h.Attempts.Remember(ctx, mallory.ID, device)
		h.Must(err)
		if planted == device {
			t.Error("a device of one person became another's")
		}
		for range 10 {
			_ = h.Attempts.Admit(ctx, attempt("198.51.100.2", planted))
		}
		h.WantCode("the device of somebody else", h.Attempts.Admit(ctx, attempt("198.51.100.2", planted)), core.CodeRateLimited)

		h.Advance(181 * 24 * time.Hour)
		for range 10 {
			_ = h.Attempts.Admit(ctx, attempt("198.51.100.3", device))
		}
		h.WantCode("a device of half a year ago", h.Attempts.Admit(ctx, attempt("198.51.100.3", device)), core.CodeRateLimited)
	})
}

func TestOneNetworkOnManyAddressesIsStopped(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		for i := range 30 {
			in := attempt("sprayer", "")
			in.Email = fmt.Sprintf("someone%d@example.org", i)
			h.Must(h.Attempts.Admit(t.Context(), in))
		}
		h.WantCode("attempt 31", h.Try(email, password, "sprayer", ""), core.CodeRateLimited)
		if err := h.Try(email, password, "somebody else", ""); err != nil {
			t.Errorf("another network: %v", err)
		}
	})
}

func TestSigningInForgivesEarlierMistakes(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		for range 3 {
			for range 8 {
				h.Must(h.Attempts.Admit(t.Context(), attempt("192.0.2.1", "")))
			}
			h.SignIn(password)
			h.Advance(2 * time.Minute)
		}
	})
}

// TestTheOwnerIsWarned checks that ten wrong passwords, from any networks, warn the owner
// of the address, at most once a day. The warning is in the audit log of each organization,
// on the security page and in a mail. Wrong passwords for an address without an account
// enqueue the same job, which then does nothing.
func TestTheOwnerIsWarned(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		wrong := func(address string, times int) {
			for i := range times {
				in := attempt(fmt.Sprint("bot ", i), "")
				in.Email = address
				h.Attempts.CountFailure(ctx, in)
			}
		}
		wrong(email, 9)
		if left := h.Queue.Take(); len(left) != 0 {
			t.Fatalf("after nine: %v", left)
		}
		wrong(strings.ToLower(email), 5)
		wrong("nobody@example.org", 30)
		if left := len(h.Queue.Jobs); left != 2 {
			t.Fatalf("%d jobs for two addresses", left)
		}
		if _, warned, err := h.Warnings.LastWarning(ctx, h.User.ID); warned || err != nil {
			t.Errorf("before the job: %v, %v", warned, err)
		}
		h.Must(h.Work())
		letters := h.Sender.Take()
		if len(letters) != 1 || letters[0].To != email || !strings.Contains(letters[0].Subject, "wrong passwords") || !strings.Contains(letters[0].Text, "05:06 UTC on 4 March 2026") {
			t.Fatalf("letters %+v", letters)
		}
		h.WantAudited("user.wrong_passwords", "system")
		if w, warned, err := h.Warnings.LastWarning(ctx, h.User.ID); !warned || err != nil || !w.At.Equal(start) {
			t.Errorf("the security page: %+v, %v, %v", w, warned, err)
		}

		wrong(email, 50)
		// Another process counts wrong passwords separately and sends no second warning. Its
		// limits have all counts at zero.
		other := attempts.New(h.Attempts.Config)
		for range 10 {
			other.CountFailure(ctx, attempt("bot", ""))
		}
		h.Must(h.Work())
		if letters := h.Sender.Take(); len(letters) != 0 {
			t.Errorf("told again: %+v", letters)
		}
		h.Advance(25 * time.Hour)
		wrong(email, 60)
		h.Must(h.Work())
		if letters := h.Sender.Take(); len(letters) != 1 {
			t.Errorf("a day later: %+v", letters)
		}
		h.Advance(31 * 24 * time.Hour)
		if _, warned, err := h.Warnings.LastWarning(ctx, h.User.ID); warned || err != nil {
			t.Errorf("a month later: %v, %v", warned, err)
		}
	})
}

// attempt returns an attempt to sign in to the person's address with a wrong password.
func attempt(client, device string) people.SignInRequest {
	return people.SignInRequest{Email: email, Password: "wrong", Client: client, Device: device}
}
