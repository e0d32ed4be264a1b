package senders_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/senders"
)

// TestConcurrentGuesses enters many wrong codes at once: at most five of them may be compared
// with the code, also with a call among them that starts nothing.
func TestConcurrentGuesses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		claim, code := w.claimed(t, w.ada, "box@example.com")
		const guesses = 20
		answers := make([]error, guesses)
		var calls sync.WaitGroup
		for i := range answers {
			calls.Go(func() {
				arguments := fmt.Sprintf(`{"id":%q,"code":%q}`, claim.ID, otherThan(code))
				_, answers[i] = w.call(t.Context(), w.ada, "verified_senders_confirm", arguments)
			})
		}
		calls.Wait()
		left := map[string]int{}
		for _, err := range answers {
			e := core.AsError(err)
			if e == nil || e.Code != core.CodeValidationFailed {
				t.Fatalf("a wrong code: %v", err)
			}
			if strings.Contains(e.Message, "is wrong") {
				left[e.Message]++
			} else if !strings.Contains(e.Message, "is locked") {
				t.Error(e.Message)
			}
		}
		if len(left) != senders.MaxWrongCodes { // each got another number of attempts
			t.Errorf("compared: %v", left)
		}
		for message, n := range left {
			if n != 1 {
				t.Errorf("%d times %s", n, message)
			}
		}
		_, err := w.confirm(t, w.ada, claim.ID, code)
		refused(t, err, core.CodeValidationFailed, "is locked")
	})
}

// TestConcurrentStarts starts the verification of one address by two members at once: only one
// of them may claim it. One member may start at most five times.
func TestConcurrentStarts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var calls sync.WaitGroup
		owners := []core.Principal{w.ada, w.bob}
		const each = 8
		answers := make([]error, each*len(owners))
		for i := range answers {
			calls.Go(func() {
				_, answers[i] = w.call(t.Context(), owners[i%len(owners)], "verified_senders_create", `{"email":"box@example.com"}`)
			})
		}
		calls.Wait()
		counts := map[core.Code]int{}
		for _, err := range answers {
			if err == nil {
				counts[""]++
			} else {
				counts[core.AsError(err).Code]++
			}
		}
		if counts[""] != senders.StartsPerHour || counts[core.CodeRateLimited] != each-senders.StartsPerHour || counts[core.CodeConflict] != each {
			t.Errorf("answers: %v, %v", counts, answers)
		}
		if all := append(w.list(t, w.ada), w.list(t, w.bob)...); len(all) != 1 {
			t.Errorf("claims: %+v", all)
		}
		if sent := w.deliver(t); len(sent) != 1 {
			t.Errorf("%d letters", len(sent))
		}
	})
}
