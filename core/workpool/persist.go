package workpool

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Persist stores a result that must not be lost, such as what a sending account has answered, and
// tries again while the database is away.
type Persist struct {
	Clock core.Clock
	// Timeout limits each attempt. The end of the caller's context does not interrupt one.
	Timeout time.Duration
	// Wait waits until a time, or until ctx ends.
	Wait func(ctx context.Context, until time.Time)
}

// persistEvery is the wait before the next attempt.
const persistEvery = time.Second

// Until calls store until it succeeds or fails for another reason than an outage. It gives up after
// the time until, and after one attempt if ctx has ended. again is true for a call that may repeat one
// that was committed, because the answer of the database can be lost.
func (p Persist) Until(ctx context.Context, until time.Time, store func(ctx context.Context, again bool) error) error {
	for again := false; ; again = true {
		storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.Timeout)
		err := store(storing, again)
		cancel()
		if !core.IsOutage(err) || ctx.Err() != nil || p.Clock().After(until) {
			return err
		}
		p.Wait(ctx, p.Clock().Add(persistEvery))
	}
}
