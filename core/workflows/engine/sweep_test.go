package engine_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

func TestSweptConditions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for condition, want := range map[string]time.Duration{"suppressed": 3 * time.Hour, "attr.email = \"x\"": 48 * time.Hour} {
		checked, err := language.Compile("workflow \"W\" v1 {\nenter on activity.signup\nwait up to 2 days until "+condition+"\n}", language.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		moved := engine.Compile(checked).Advance(engine.Begin(now), engine.Facts{Subject: &predicate.Subject{}, Now: now})
		if got := moved.State.WakeAt.Sub(now); got != want {
			t.Errorf("%s wakes after %v, want %v", condition, got, want)
		}
	}
}
