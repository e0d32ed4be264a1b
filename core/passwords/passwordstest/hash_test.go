package passwordstest_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/passwords/passwordstest"
)

func TestHashIsAccepted(t *testing.T) {
	t.Parallel()
	hash := passwordstest.Hash("correct horse")
	for attempt, want := range map[string]bool{"correct horse": true, "correct horsf": false} {
		if got, err := passwords.Verify(hash, attempt); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", attempt, got, err, want)
		}
	}
}
