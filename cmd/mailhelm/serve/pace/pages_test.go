package pace

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// TestPages checks that one person cannot open more than PagesPerMinute pages in a
// minute, that other people can, and that the person can again after the minute.
func TestPages(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pace := Pages(func() time.Time { return now }, PagesPerMinute)
	for i := range PagesPerMinute {
		if err := pace(t.Context(), "ada"); err != nil {
			t.Fatalf("page %d: %v", i, err)
		}
	}
	if e := core.AsError(pace(t.Context(), "ada")); e.Code != core.CodeRateLimited || e.RetryAfter != time.Minute {
		t.Errorf("refused with %+v", e)
	}
	if err := pace(t.Context(), "eve"); err != nil {
		t.Errorf("another person: %v", err)
	}
	now = now.Add(time.Minute + time.Second)
	if err := pace(t.Context(), "ada"); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}
