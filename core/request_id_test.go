package core_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	for _, own := range []string{"a", "A-Z.0:9_", strings.Repeat("x", 128)} {
		if got := core.RequestID([]string{own}); got != own {
			t.Errorf("%q became %q", own, got)
		}
	}
	for _, given := range [][]string{nil, {""}, {"a b"}, {"a\nb"}, {"é"}, {strings.Repeat("x", 129)}, {"a", "a"}} {
		if got := core.RequestID(given); !core.IsID(got) {
			t.Errorf("%q became %q", given, got)
		}
	}
}
