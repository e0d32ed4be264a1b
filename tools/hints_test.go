package tools

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

// TestHintsSpeakOfWhatAnAgentHas checks that every error code has a hint, and that no hint
// mentions routes or headers, which agents cannot use.
func TestHintsSpeakOfWhatAnAgentHas(t *testing.T) {
	t.Parallel()
	for _, info := range core.Codes() {
		hint := hintOf(&core.Error{Code: info.Code})
		if hint == "" {
			t.Errorf("%s has no hint", info.Code)
		}
		for _, unknown := range []string{"/v1/", "the path", "Idempotency-Key", "Retry-After"} {
			if strings.Contains(hint, unknown) {
				t.Errorf("%s: the hint %q speaks of %q", info.Code, hint, unknown)
			}
		}
	}
}

func TestAnErrorsOwnNextStepIsTheHint(t *testing.T) {
	t.Parallel()
	e := &core.Error{Code: core.CodeNotFound, Next: "Repeat it after `Retry-After`."}
	if got := hintOf(e); got != "Repeat it after `retry_after`." {
		t.Errorf("hint %q", got)
	}
}
