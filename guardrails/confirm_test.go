package guardrails_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func confirming(token string) func(*guardrails.Request) {
	return func(r *guardrails.Request) { r.Confirmation = token }
}

func TestConfirmationTakesTwoCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := mustCall(t, b, "op_confirm", nil)
	if asked.Confirm == nil || asked.Value != nil || b.countAudited(t) != 0 {
		t.Fatalf("the first call must only ask: %+v", asked)
	}
	if asked.Confirm.Message != "This reaches people." || !asked.Confirm.ExpiresAt.Equal(b.clock.Now().Add(10*time.Minute)) {
		t.Errorf("asked = %+v", asked.Confirm)
	}
	done := mustCall(t, b, "op_confirm", confirming(asked.Confirm.Token))
	if done.Confirm != nil || idOf(done) == "" || b.countAudited(t) != 1 {
		t.Errorf("the second call must do it: %+v", done)
	}
}

// TestOnlyProgramsNeedNoConfirmation checks that a call over REST has its effect at once,
// and that agents and people on the dashboard are first asked to confirm it.
func TestOnlyProgramsNeedNoConfirmation(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		for surface, asks := range map[core.Surface]bool{core.REST: false, core.Agent: true, core.Dashboard: true} {
			before := b.countAudited(t)
			by := func(token string) guardrails.Result {
				return mustCall(t, b, "op_confirm", func(r *guardrails.Request) { r.Surface, r.Confirmation = surface, token })
			}
			got := by("")
			if (got.Confirm != nil) != asks || (idOf(got) == "") != asks {
				t.Errorf("%s: the first call returned %+v", surface, got)
			}
			if asks {
				if b.countAudited(t) != before {
					t.Errorf("%s: the first call had an effect", surface)
				}
				got = by(got.Confirm.Token)
			}
			if idOf(got) == "" || b.countAudited(t) != before+1 {
				t.Errorf("%s: %+v, with %d effects", surface, got, b.countAudited(t)-before)
			}
		}
	})
}

// TestEveryWrongConfirmationIsRefusedAlike checks that every invalid confirmation gets the
// same error code and text, and that the call has no effect.
func TestEveryWrongConfirmationIsRefusedAlike(t *testing.T) {
	t.Parallel()
	var texts sync.Map
	for name, spoil := range map[string]func(b *bundle, r *guardrails.Request){
		"tampered":       func(_ *bundle, r *guardrails.Request) { r.Confirmation = "A" + r.Confirmation[1:] },
		"signature cut":  func(_ *bundle, r *guardrails.Request) { r.Confirmation = r.Confirmation[:len(r.Confirmation)-2] },
		"no signature":   func(_ *bundle, r *guardrails.Request) { r.Confirmation, _, _ = strings.Cut(r.Confirmation, ".") },
		"rubbish":        func(_ *bundle, r *guardrails.Request) { r.Confirmation = "%%%.%%%" },
		"expired":        func(b *bundle, _ *guardrails.Request) { b.clock.advance(10 * time.Minute) },
		"preview":        func(b *bundle, _ *guardrails.Request) { b.preview = 8 },
		"arguments":      func(_ *bundle, r *guardrails.Request) { r.Arguments = json.RawMessage(`{"email":"bob@example.com"}`) },
		"another form":   func(_ *bundle, r *guardrails.Request) { r.ConfirmationForm = "other" },
		"another day":    func(b *bundle, _ *guardrails.Request) { b.clock.advance(48 * time.Hour) },
		"another client": func(_ *bundle, r *guardrails.Request) { r.Principal.Credential.ID = core.NewID() },
		"another user":   func(_ *bundle, r *guardrails.Request) { r.Principal.UserID = core.NewID() },
		"another org":    func(_ *bundle, r *guardrails.Request) { r.Principal.Org.ID = core.NewID() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			asked := mustCall(t, b, "op_confirm", nil)
			_, err := b.call(t, "op_confirm", func(r *guardrails.Request) {
				r.Confirmation = asked.Confirm.Token
				spoil(b, r)
			})
			wantCode(t, err, core.CodeConfirmationInvalid)
			texts.Store(err.Message+err.NextStep(), name)
			if b.countAudited(t) != 0 {
				t.Error("something happened")
			}
		})
	}
	t.Cleanup(func() {
		n := 0
		texts.Range(func(any, any) bool { n++; return true })
		if n > 1 {
			t.Errorf("%d different refusals tell the cause apart", n)
		}
	})
}

// TestWithoutASecretNothingIsConfirmed checks that operations that need a confirmation fail
// if there is no valid signing secret.
func TestWithoutASecretNothingIsConfirmed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := mustCall(t, b, "op_confirm", nil)
	for _, secret := range [][]byte{nil, make([]byte, guardrails.ConfirmationSecretBytes-1)} {
		g := guardrails.New(guardrails.Config{
			Transactor: b.db, Replays: b.db.Replay(), Audit: b.db.Audit(), ConfirmationSecret: secret,
			Clock: b.clock.Now, Log: slog.New(slog.DiscardHandler), Metrics: noMetrics{},
		})
		b.catalogue = g.Catalogue(b.operations())
		for _, token := range []string{"", asked.Confirm.Token} {
			_, err := b.call(t, "op_confirm", confirming(token))
			wantCode(t, err, core.CodeInternalError)
		}
	}
}

// TestChangedPreviewNeedsANewConfirmation checks a change of the preview between the
// confirmation and the transaction. The call must have no effect and return the new
// preview, which can then be confirmed.
func TestChangedPreviewNeedsANewConfirmation(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		asked := mustCall(t, b, "op_confirm", nil)
		b.between = func() { b.addLine(t) }
		// The first call reaches the transaction. The second call is refused earlier, when
		// the token is verified.
		for range 2 {
			_, err := b.call(t, "op_confirm", confirming(asked.Confirm.Token))
			wantCode(t, err, core.CodeConfirmationInvalid)
			if preview, _ := err.Extra["preview"].(json.RawMessage); string(preview) != `{"people":8}` {
				t.Errorf("the refusal shows %s, want 8 people", preview)
			}
		}
		if b.countAudited(t) != 1 {
			t.Errorf("%d lines, want the one that was added", b.countAudited(t))
		}
		b.between = nil
		again := mustCall(t, b, "op_confirm", nil)
		if done := mustCall(t, b, "op_confirm", confirming(again.Confirm.Token)); idOf(done) == "" || b.reached.Load() != 1 {
			t.Errorf("%+v reached %d", done, b.reached.Load())
		}
	})
}

// TestTheTransactionSeesWhatWasConfirmed checks that the operation does not see writes that
// other transactions commit while it runs. On SQLite, the other transactions wait.
func TestTheTransactionSeesWhatWasConfirmed(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.addLine(t)
		asked := mustCall(t, b, "op_confirm", nil)
		var adding sync.WaitGroup
		b.within = func() {
			adding.Go(func() { b.addLine(t) })
			if db.Engine() == "postgres" {
				adding.Wait()
			}
		}
		done := mustCall(t, b, "op_confirm", confirming(asked.Confirm.Token))
		adding.Wait()
		if idOf(done) == "" || b.reached.Load() != 1 {
			t.Errorf("%+v reached %d, and 1 was confirmed", done, b.reached.Load())
		}
	})
}

func TestOneConfirmationHasOneEffect(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		asked := mustCall(t, b, "op_confirm", nil)
		var wait sync.WaitGroup
		var done atomic.Int32
		for i := range 50 {
			wait.Go(func() {
				_, err := b.call(t, "op_confirm", func(r *guardrails.Request) {
					r.Confirmation, r.IdempotencyKey = asked.Confirm.Token, string(rune('a'+i))
				})
				switch {
				case err == nil:
					done.Add(1)
				case err.Code != core.CodeConfirmationInvalid:
					t.Errorf("error = %v", err)
				}
			})
		}
		wait.Wait()
		if done.Load() != 1 || b.countAudited(t) != 1 {
			t.Errorf("%d calls went through, %d audit lines, want one of each", done.Load(), b.countAudited(t))
		}
	})
}
