package guardrails_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	args := func(s string) func(*guardrails.Request) {
		return func(r *guardrails.Request) { r.Arguments = json.RawMessage(s) }
	}
	for name, tc := range map[string]struct {
		operation string
		edit      func(*guardrails.Request)
		code      core.Code
		says      string
	}{
		"no scope":             {"op_read", func(r *guardrails.Request) { r.Principal.Scopes = nil }, core.CodeInvalidScope, "api.contacts.manage"},
		"scope before values":  {"op_write", func(r *guardrails.Request) { r.Principal.Scopes = nil; r.Arguments = json.RawMessage(`{`) }, core.CodeInvalidScope, ""},
		"test may not destroy": {"op_destroy", useTestKey, core.CodeTestEnvironmentForbidden, "op_destroy"},
		"test may not confirm": {"op_confirm", useTestKey, core.CodeTestEnvironmentForbidden, ""},
		"unknown argument":     {"op_read", args(`{"email":"a@example.com","x":1}`), core.CodeValidationFailed, "known names are email, note"},
		"missing argument":     {"op_read", args(``), core.CodeValidationFailed, "is required"},
		"broken JSON":          {"op_read", args(`{"email":`), core.CodeValidationFailed, "not valid JSON"},
		"deep JSON":            {"op_read", args(strings.Repeat(`{"a":`, 10000)), core.CodeValidationFailed, "nested deeper"},
		"git, to an agent":     {"op_git", connectGit, core.CodeGitOwned, "repository"},
		"git, over REST": {"op_git", func(r *guardrails.Request) {
			connectGit(r)
			r.Surface = core.REST
		}, core.CodeConflict, "repository"},
		"long key": {"op_write", func(r *guardrails.Request) { r.IdempotencyKey = strings.Repeat("k", 256) }, core.CodeValidationFailed, "255"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, err := b.call(t, tc.operation, tc.edit)
			wantCode(t, err, tc.code)
			text := err.Message
			for _, f := range err.Fields {
				text += " " + f.Field + " " + f.Reason
			}
			if !strings.Contains(text, tc.says) {
				t.Errorf("says %q, want it to name %q", text, tc.says)
			}
			if err.NextStep() == "" {
				t.Error("the refusal has no next step")
			}
			if n := b.countAudited(t); n != 0 {
				t.Errorf("%d audit lines for a refused call", n)
			}
		})
	}
}

func useTestKey(r *guardrails.Request) { r.Principal.Credential.Environment = core.Test }
func connectGit(r *guardrails.Request) { r.Principal.Org.GitConnected = true }

func TestTestCredentialsMayWrite(t *testing.T) {
	t.Parallel()
	if _, err := setup(t).call(t, "op_write", useTestKey); err != nil {
		t.Fatal(err)
	}
}

func TestWritesAreAuditedAndReadsAreNot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, err := b.call(t, "op_read", nil); err != nil {
		t.Fatal(err)
	}
	if n := b.countAudited(t); n != 0 {
		t.Fatalf("%d audit lines after a read", n)
	}
	result, err := b.call(t, "op_write", nil)
	if err != nil {
		t.Fatal(err)
	}
	events, dbErr := b.db.Audit().FindAudit(t.Context(), b.principal.Org.ID, access.AuditFilter{Limit: 10})
	if dbErr != nil || len(events) != 1 {
		t.Fatalf("events = %v, %v", events, dbErr)
	}
	got := events[0]
	if got.Action != "op_write" || got.SubjectID != idOf(result) || got.ActorID != b.principal.Credential.ID || got.RequestID != "req-1" || got.Surface != core.Agent {
		t.Errorf("audit line = %+v", got)
	}
}

func TestAFailureLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.failNext = errors.New("disk on fire: password=hunter2")
	_, err := b.call(t, "op_write", nil)
	wantCode(t, err, core.CodeInternalError)
	if n := b.countAudited(t); n != 0 {
		t.Errorf("%d audit lines for a write that was rolled back", n)
	}
	problem, _ := json.Marshal(core.ProblemOf(err, "http://docs", "req-1"))
	if strings.Contains(string(problem), "fire") || !strings.Contains(b.log.String(), "disk on fire") {
		t.Errorf("the cause belongs in the log and nowhere else: %s", problem)
	}
}

func TestTheLogHoldsNoArguments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, operation := range []string{"op_read", "op_write", "op_confirm"} {
		if _, err := b.call(t, operation, func(r *guardrails.Request) { r.IdempotencyKey = "canary-key-" + operation }); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = b.call(t, "op_read", func(r *guardrails.Request) { r.Arguments = json.RawMessage(`{"ann@example.com":1}`) })
	for _, canary := range []string{"ann@example.com", "canary-key"} {
		if strings.Contains(b.log.String(), canary) {
			t.Errorf("the log holds %q:\n%s", canary, b.log)
		}
	}
	for _, wanted := range []string{`"request_id":"req-1"`, `"client":"oc_live_abcdefgh"`, `"operation":"op_write"`, `"outcome":"ok"`, `"outcome":"validation_failed"`} {
		if !strings.Contains(b.log.String(), wanted) {
			t.Errorf("the log lacks %s", wanted)
		}
	}
}

func TestTwoOperationsOfOneNamePanicAtStart(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	b := setup(t)
	ops := b.operations()
	guardrails.New(guardrails.Config{Clock: b.clock.Now, Metrics: noMetrics{}}).Catalogue(append(ops, ops[0]))
}

// TestAPanicHoldsNothing checks that a panic in an operation does not end the process. The
// idempotency key must be released, the functions registered with Defer must run, and
// nothing may be stored. The log must have the stack, but not the text of the panic.
func TestAPanicHoldsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.failNext = errors.New("panic, please")
	_, err := b.call(t, "op_crash", withKey("k"))
	wantCode(t, err, core.CodeInternalError)
	if b.finished.Load() != 1 || b.countAudited(t) != 0 {
		t.Errorf("%d calls let go, %d audit lines", b.finished.Load(), b.countAudited(t))
	}
	if log := b.log.String(); strings.Contains(log, "a mistake in an operation") || !strings.Contains(log, "setup_test.go") {
		t.Errorf("the log lacks the stack, or has the panic's own words: %s", log)
	}
	if r := mustCall(t, b, "op_crash", withKey("k")); r.Replayed {
		t.Error("a call that panicked stored a result")
	}
}

func TestACancelledCallIsNotAnInternalError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	op, _ := b.catalogue.Operation("op_write")
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := op.Call(gone, guardrails.Request{Principal: b.principal, Surface: core.REST, Arguments: json.RawMessage(`{"email":"ann@example.com"}`)})
	if err == nil || !strings.Contains(b.log.String(), `"level":"INFO"`) || !strings.Contains(b.log.String(), `"outcome":"caller_gone"`) {
		t.Errorf("%v, %s", err, b.log)
	}
}
