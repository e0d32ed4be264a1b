package outgoing

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// WaitUntil returns a function that waits until the clock has a time, or until its context
// ends.
func WaitUntil(clock core.Clock) func(ctx context.Context, until time.Time) {
	return func(ctx context.Context, until time.Time) {
		if d := until.Sub(clock()); d > 0 {
			_ = core.Sleep(ctx, d) // the caller checks its context
		}
	}
}
