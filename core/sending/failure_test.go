package sending_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// TestFailuresAsCallersSeeThem checks, for each kind of failure, that the API error
// contains no text of the provider. A retryable error must say how long to wait.
func TestFailuresAsCallersSeeThem(t *testing.T) {
	t.Parallel()
	const marker = "PROVIDER-TEXT ada@example.org"
	for kind, want := range map[sending.FailureKind]struct {
		status int
		says   string
	}{
		sending.NotFound:     {503, "refused"},
		sending.NotConnected: {503, "No sending account is connected"},
		sending.Refused:      {503, "refused the call"},
		sending.Throttled:    {503, "throttling"},
		sending.Invalid:      {422, "does not accept"},
		sending.Full:         {422, "exceeds the number"},
		sending.Rejected:     {409, "refused to send this message"},
		sending.Unsupported:  {409, "does not support the operation"},
		sending.TimedOut:     {504, "unknown"},
		marker:               {503, "refused"},
	} {
		for _, wait := range []time.Duration{0, 7 * time.Second} {
			failure := &sending.Failure{Kind: kind, RetryAfter: wait, Err: errors.New(marker)}
			for _, err := range []error{failure, errors.Join(failure, errors.New(marker))} {
				shown := sending.Unavailable(err)
				problem := core.ProblemOf(shown, "", "")
				text, jsonErr := json.Marshal(problem)
				if jsonErr != nil || problem.Status != want.status || !strings.Contains(string(text), want.says) || strings.Contains(string(text), "PROVIDER") {
					t.Errorf("%s is shown as %s, want %d with %q", kind, text, want.status, want.says)
				}
				if got := core.AsError(shown).RetryAfter; problem.Status >= 500 && (got <= 0 || wait > 0 && got != wait) {
					t.Errorf("%s may be repeated after %v, want %v", kind, got, wait)
				}
				if !errors.Is(shown, failure) {
					t.Errorf("%s loses its cause", kind)
				}
			}
		}
	}
	if sending.Unavailable(nil) != nil {
		t.Error("no failure is one")
	}
}
