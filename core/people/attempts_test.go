package people_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// TestGuessingFromOneNetworkEnds checks the block of a network after ten wrong passwords
// for an address. The network is then refused even with the right password, and for the
// address in upper case. This holds for addresses with and without an account. After the
// stated wait, the network may try again.
func TestGuessingFromOneNetworkEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for _, address := range []string{email, "nobody@example.org"} {
			client := "203.0.113.9 for " + address
			for range 10 {
				in := attempt(client, "")
				in.Email = address
				h.must(h.attempts.Admit(t.Context(), in))
			}
			refused := core.AsError(h.try(strings.ToUpper(address), password, client, ""))
			if refused.Code != core.CodeRateLimited || refused.RetryAfter <= 0 || refused.RetryAfter > time.Minute {
				t.Errorf("%s: %v, again in %v", address, refused, refused.RetryAfter)
			}
			h.advance(refused.RetryAfter)
			h.wantCode("after the wait", h.try(address, "wrong", client, ""), core.CodeInvalidKey)
		}
	})
}

// The test checks that an attack on one address from many networks does not lock out its
// owner. The owner can sign in from a new network, and on a known device even in an
// attacking network. Each other network has three attempts instead of ten.
func TestDistributedPasswordGuessingLocksNoAccount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		device, err := h.attempts.Remember(t.Context(), h.user.ID, "")
		h.must(err)
		for i := range 100 {
			h.must(h.attempts.Admit(t.Context(), attempt(fmt.Sprint("bot ", i/2), "")))
		}
		for i := range 4 {
			err := h.attempts.Admit(t.Context(), attempt("bot 1000", ""))
			if i < 3 {
				h.must(err)
				continue
			}
			h.wantCode("the fourth of a network under attack", err, core.CodeRateLimited)
			if wait := core.AsError(err).RetryAfter; wait != 5*time.Minute {
				t.Errorf("again in %v", wait)
			}
		}
		if err := h.try(email, password, "a network of the owner's", ""); err != nil {
			t.Errorf("the owner in a new network: %v", err)
		}
		for range 40 {
			_ = h.attempts.AdmitFrom("a café")
		}
		h.wantCode("a stranger in a network that is used up", h.try(email, password, "a café", ""), core.CodeRateLimited)
		h.wantCode("with an invented device", h.try(email, password, "a café", strings.Repeat("A", 52)), core.CodeRateLimited)
		if err := h.try(email, password, "a café", device); err != nil {
			t.Errorf("the owner's device in a network that is used up: %v", err)
		}
	})
}

// TestDevices checks that a device known for a person has its own limit on attempts. The
// device has no such limit for other people.
func TestDevices(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		device, err := h.attempts.Remember(ctx, h.user.ID, strings.Repeat("A", 52))
		h.must(err)
		if device == strings.Repeat("A", 52) {
			t.Error("an invented secret became a device's")
		}
		if again, err := h.attempts.Remember(ctx, h.user.ID, device); err != nil || again != device {
			t.Errorf("a known device gets %q, %v", again, err)
		}
		for range 10 {
			h.must(h.attempts.Admit(ctx, attempt(otherSide, device)))
		}
		h.wantCode("the device's attempt 11", h.try(email, password, otherSide, device), core.CodeRateLimited)
		if err := h.try(email, password, otherSide, ""); err != nil {
			t.Errorf("without the device, the network is not used up: %v", err)
		}

		mallory := h.user
		mallory.ID, mallory.Email = core.NewID(), "mallory@example.org"
		h.must(h.db.Users().InsertUser(ctx, mallory))
		planted, err := h.attempts.Remember(ctx, mallory.ID, device)
		h.must(err)
		if planted == device {
			t.Error("a device of one person became another's")
		}
		for range 10 {
			_ = h.attempts.Admit(ctx, attempt("198.51.100.2", planted))
		}
		h.wantCode("the device of somebody else", h.attempts.Admit(ctx, attempt("198.51.100.2", planted)), core.CodeRateLimited)

		h.advance(181 * 24 * time.Hour)
		for range 10 {
			_ = h.attempts.Admit(ctx, attempt("198.51.100.3", device))
		}
		h.wantCode("a device of half a year ago", h.attempts.Admit(ctx, attempt("198.51.100.3", device)), core.CodeRateLimited)
	})
}

func TestOneNetworkOnManyAddressesIsStopped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for i := range 30 {
			in := attempt("sprayer", "")
			in.Email = fmt.Sprintf("someone%d@example.org", i)
			h.must(h.attempts.Admit(t.Context(), in))
		}
		h.wantCode("attempt 31", h.try(email, password, "sprayer", ""), core.CodeRateLimited)
		if err := h.try(email, password, "somebody else", ""); err != nil {
			t.Errorf("another network: %v", err)
		}
	})
}

func TestSigningInForgivesEarlierMistakes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for range 3 {
			for range 8 {
				h.must(h.attempts.Admit(t.Context(), attempt("192.0.2.1", "")))
			}
			h.signIn(password)
			h.advance(2 * time.Minute)
		}
	})
}

// TestTheOwnerIsWarned checks that ten wrong passwords, from any networks, warn the owner
// of the address once a day. The warning is in the audit log of each organization, on the
// security page and in a mail. An address without an account enqueues the same job, which
// does nothing.
func TestTheOwnerIsWarned(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		wrong := func(address string, times int) {
			for i := range times {
				in := attempt(fmt.Sprint("bot ", i), "")
				in.Email = address
				h.attempts.CountFailure(ctx, in)
			}
		}
		wrong(email, 9)
		if left := h.queue.take(); len(left) != 0 {
			t.Fatalf("after nine: %v", left)
		}
		wrong(strings.ToLower(email), 5)
		wrong("nobody@example.org", 30)
		if left := len(h.queue.jobs); left != 2 {
			t.Fatalf("%d jobs for two addresses", left)
		}
		if _, warned, err := h.passwords.LastWarning(ctx, h.user.ID); warned || err != nil {
			t.Errorf("before the job: %v, %v", warned, err)
		}
		h.must(h.work())
		letters := h.sender.take()
		if len(letters) != 1 || letters[0].To != email || !strings.Contains(letters[0].Subject, "wrong passwords") || !strings.Contains(letters[0].Text, "05:06 UTC on 4 March 2026") {
			t.Fatalf("letters %+v", letters)
		}
		h.wantAudited("user.wrong_passwords", "system")
		if w, warned, err := h.passwords.LastWarning(ctx, h.user.ID); !warned || err != nil || !w.At.Equal(start) {
			t.Errorf("the security page: %+v, %v, %v", w, warned, err)
		}

		wrong(email, 50)
		// Another process counts wrong passwords separately and sends no second warning.
		other := newHouseBeside(h)
		for range 10 {
			other.CountFailure(ctx, attempt("bot", ""))
		}
		h.must(h.work())
		if letters := h.sender.take(); len(letters) != 0 {
			t.Errorf("told again: %+v", letters)
		}
		h.advance(25 * time.Hour)
		wrong(email, 60)
		h.must(h.work())
		if letters := h.sender.take(); len(letters) != 1 {
			t.Errorf("a day later: %+v", letters)
		}
		h.advance(31 * 24 * time.Hour)
		if _, warned, err := h.passwords.LastWarning(ctx, h.user.ID); warned || err != nil {
			t.Errorf("a month later: %v, %v", warned, err)
		}
	})
}
