package mcp_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// inBothForms runs a test on SQLite and PostgreSQL. It uses a client that can show forms to
// its user, and a client that cannot.
func inBothForms(t *testing.T, test func(t *testing.T, s *signing, a attempt)) {
	t.Helper()
	for name, form := range map[string]bool{"form": true, "argument": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storagetest.Each(t, func(t *testing.T, db *storage.DB) {
				a := plain
				a.form = form
				test(t, startSigning(t, db), a)
			})
		})
	}
}

// ask sends the call without a confirmation and checks that the answer asks for a
// confirmation. It returns the call with the confirmation token of that answer added.
func (s *signing) ask(t *testing.T, a attempt) attempt {
	t.Helper()
	got := s.call(t, a)
	if a.form != (got.Result.Type == "input_required") || a.form != (got.Result.Requests["confirm"] != nil) || got.token() == "" {
		t.Fatalf("the first answer: %+v", got)
	}
	a.token = got.token()
	return a
}

// TestEveryFailedConfirmationIsOneRefusal checks that every invalid confirmation is refused
// with the same text and has no effect. The refusal has a new preview of the call.
func TestEveryFailedConfirmationIsOneRefusal(t *testing.T) {
	t.Parallel()
	inBothForms(t, func(t *testing.T, s *signing, first attempt) {
		good := s.ask(t, first)
		refusals := map[string]string{}
		hold := func(name string, a attempt) {
			t.Helper()
			got := s.call(t, a)
			if got.Result.Structured["code"] != "confirmation_invalid" {
				t.Errorf("%s: %+v", name, got)
			}
			refusals[got.refusal(t)] = name
		}
		spoil := func(name string, f func(*attempt)) {
			t.Helper()
			a := good
			f(&a)
			hold(name, a)
		}
		for at := range good.token {
			spoil(fmt.Sprint("tampered at ", at), func(a *attempt) { a.token = a.token[:at] + other(a.token[at]) + a.token[at+1:] })
			if at > 0 && at%7 == 0 || at > len(good.token)-9 {
				spoil(fmt.Sprint("truncated at ", at), func(a *attempt) { a.token = a.token[:at] })
			}
		}
		// a lenient Base64 decoder reads some of these letters as the last letter of the token
		for _, last := range "AEIMQUYcgkosw048" {
			if !strings.HasSuffix(good.token, string(last)) {
				spoil("another last letter", func(a *attempt) { a.token = a.token[:len(a.token)-1] + string(last) })
			}
		}
		for _, more := range []string{"\n", "=", ".", "A", " "} {
			spoil("something behind", func(a *attempt) { a.token += more })
			spoil("something before", func(a *attempt) { a.token = more + a.token })
		}
		spoil("other tool", func(a *attempt) { a.tool = "workflows_activate" })
		for _, caller := range []string{"other-org", "other-user", "other-client"} {
			spoil(caller, func(a *attempt) { a.caller = caller })
		}
		spoil("other arguments", func(a *attempt) { a.arguments = `"id":"b2","note":"é"` })
		spoil("fewer arguments", func(a *attempt) { a.arguments = `"id":"b1"` })
		spoil("the other form", func(a *attempt) { a.form = !a.form })
		s.people.Store(13)
		changed := s.call(t, good)
		if now, _ := changed.Result.Structured["preview"].(map[string]any); now["people"] != 13.0 || changed.Result.Structured["code"] != "confirmation_invalid" {
			t.Errorf("other consequence: %+v", changed)
		}
		// The preview has 13 instead of 12 people; the rest of the refusal must equal all
		// other refusals.
		refusals[strings.ReplaceAll(changed.refusal(t), "13", "12")] = "other consequence"
		s.people.Store(12)
		s.clock.Freeze(noon.Add(10*time.Minute - time.Second))
		// asked at 12:09:59, so the token expires at 12:19:59, one second after the time that
		// the next line sets
		last := s.ask(t, first)
		s.clock.Freeze(noon.Add(20*time.Minute - 2*time.Second))
		used := last
		if got := s.call(t, used); !got.sent() || s.sent.Load() != 1 {
			t.Fatalf("in its last second: %+v, sent %d", got, s.sent.Load())
		}
		used.key = "fresh"
		hold("used", used)
		hold("expired", good)
		s.clock.Freeze(noon.Add(48 * time.Hour))
		hold("signed by a key that is gone", good)
		if len(refusals) != 1 || s.sent.Load() != 1 {
			t.Errorf("%d refusals, sent %d: %v", len(refusals), s.sent.Load(), refusals)
		}
	})
}

// TestAConfirmationEndsToTheSecond checks that a confirmation is valid one second before
// its expiry and invalid at the expiry, ten minutes after its issue.
func TestAConfirmationEndsToTheSecond(t *testing.T) {
	t.Parallel()
	inBothForms(t, func(t *testing.T, s *signing, a attempt) {
		good := s.ask(t, a)
		s.clock.Freeze(noon.Add(10 * time.Minute))
		if got := s.call(t, good); got.Result.Structured["code"] != "confirmation_invalid" {
			t.Errorf("at its end: %+v", got)
		}
		s.clock.Freeze(noon.Add(10*time.Minute - time.Second))
		if got := s.call(t, good); !got.sent() {
			t.Errorf("a second before: %+v", got)
		}
	})
}

// other returns a letter that differs from the given one, to corrupt a token.
func other(letter byte) string {
	if letter == 'A' {
		return "B"
	}
	return "A"
}

// TestEqualArgumentsConfirm checks that a confirmation is also valid if the JSON of the
// same arguments has other spacing, order or escapes.
func TestEqualArgumentsConfirm(t *testing.T) {
	t.Parallel()
	inBothForms(t, func(t *testing.T, s *signing, a attempt) {
		good := s.ask(t, a)
		good.arguments = ` "note" : "\u00e9" , "id":"b1"`
		if got := s.call(t, good); !got.sent() {
			t.Errorf("%+v", got)
		}
	})
}

// TestConfirmationsOutliveMidnight checks that a confirmation stays valid at midnight, when
// the signing key changes, and in another process over the same database. It also checks
// that a confirmation signed with the key of the next day is refused.
func TestConfirmationsOutliveMidnight(t *testing.T) {
	t.Parallel()
	inBothForms(t, func(t *testing.T, s *signing, a attempt) {
		midnight := noon.Add(12 * time.Hour)
		s.clock.Freeze(midnight.Add(-time.Millisecond))
		before := s.ask(t, a)
		s.clock.Freeze(midnight.Add(9 * time.Minute))
		before.url = s.serve(t)
		if got := s.call(t, before); !got.sent() {
			t.Errorf("after midnight: %+v", got)
		}
		after := s.ask(t, a)
		s.clock.Freeze(midnight.Add(-time.Millisecond))
		if got := s.call(t, after); got.Result.Structured["code"] != "confirmation_invalid" {
			t.Errorf("a key of tomorrow: %+v", got)
		}
	})
}

// TestARequestStateWithoutAnAnswerConfirmsNothing checks that a request state without a
// person's answer does not confirm a call. The request state is text that a client returns
// unchanged with its next request. A client may return it automatically, so the server must
// ask again.
func TestARequestStateWithoutAnAnswerConfirmsNothing(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		s := startSigning(t, db)
		a := plain
		a.form = true
		state := s.ask(t, a).token
		asArgument := a
		asArgument.arguments += `,"confirmation_token":` + strconv.Quote(state)
		if got := s.call(t, asArgument); got.Result.Type != "input_required" {
			t.Errorf("as an argument: %+v", got)
		}
		alone := a
		alone.token, alone.unseen = state, true
		if got := s.call(t, alone); got.Result.Type != "input_required" {
			t.Errorf("alone: %+v", got)
		}
		alone.formless, alone.unseen = true, false
		if got := s.call(t, alone); got.Result.Structured["status"] != "confirmation_required" {
			t.Errorf("from a client that shows no forms: %+v", got)
		}
		if s.sent.Load() != 0 {
			t.Error("it was sent")
		}
	})
}

// confirmers is the number of concurrent calls with the same confirmation, 1,000 in a full
// run.
var confirmers = enginetest.Share(1000)

// TestAThousandConfirmersHaveOneEffect checks that of many concurrent calls with the same
// confirmation only one has an effect. Of the others, calls with their own idempotency keys
// are refused. Calls without a key are refused, replayed or get a conflict.
func TestAThousandConfirmersHaveOneEffect(t *testing.T) {
	t.Parallel()
	inBothForms(t, func(t *testing.T, s *signing, a attempt) {
		good := s.ask(t, a)
		var mu sync.Mutex
		heard := map[string]int{}
		together(confirmers, func(i int) {
			mine := good
			if i%2 == 0 {
				mine.key = strconv.Itoa(i)
			}
			got, err := s.try(mine)
			mu.Lock()
			defer mu.Unlock()
			heard[outcomeOf(got, err)]++
		})
		if n := s.sent.Load(); n != 1 {
			t.Errorf("%d effects: %v", n, heard)
		}
		events, err := s.db.Audit().FindAudit(t.Context(), s.callers["mine"].Org.ID, access.AuditFilter{Limit: 10})
		if err != nil || len(events) != 1 {
			t.Errorf("%d lines in the audit log, %v", len(events), err)
		}
		expected := heard["sent"] + heard["told of it"] + heard["confirmation_invalid"] + heard["conflict"]
		if heard["sent"] != 1 || expected != confirmers {
			t.Errorf("%v", heard)
		}
	})
}

func outcomeOf(got answer, err error) string {
	switch code, _ := got.Result.Structured["code"].(string); {
	case err != nil:
		return err.Error()
	case got.sent() && got.Result.Meta[replayed] == true:
		return "told of it"
	case got.sent():
		return "sent"
	default:
		return code
	}
}
