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
		d := until.Sub(clock())
		if d <= 0 {
			return
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}
