package guardrails

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/replay"
)

// maxHolders is how many successive holders of a key a call waits for. After that it is
// refused, because another call with the key still runs.
const maxHolders = 3

// contest is the outcome of an attempt to reserve a key.
type contest struct {
	replay.Record
	won bool
	// retryAfter is set when a running call holds the key.
	retryAfter time.Duration
}

// reserve tries to reserve the key for the call. The process registers the reservation's
// token before other calls can see it, and removes it when another call holds the key.
func (p *passage) reserve(ctx context.Context, r *reservation) (contest, error) {
	r.token = replay.NewToken()
	claim := replay.Claim{Token: r.token, Digest: r.digest}
	process := p.guard.Process
	if process == nil {
		existing, won, err := p.guard.Replays.Reserve(ctx, r.key, claim, p.call.Now)
		return contest{existing, won, replay.Beat}, err
	}
	claim.Process = process.ID()
	process.Hold(r.token)
	outcome, err := p.contend(ctx, r.key, claim)
	switch {
	case err != nil: // it may be reserved all the same
		p.giveBack(ctx, r)
	case !outcome.won:
		process.Drop(r.token)
	}
	return outcome, err
}

// contend takes over a reservation whose process is no longer alive. Checking the other
// process takes up to [replay.Silence].
func (p *passage) contend(ctx context.Context, key replay.Key, claim replay.Claim) (contest, error) {
	var outcome contest
	for range maxHolders {
		var err error
		outcome.Record, outcome.won, err = p.guard.Replays.Reserve(ctx, key, claim, p.guard.Clock())
		if err != nil || outcome.won || outcome.Done {
			return outcome, err
		}
		if outcome.retryAfter > 0 && claim.From == "" {
			return outcome, nil // the holder lived when it was judged
		}
		verdict, err := p.guard.Process.Judge(ctx, outcome.Record)
		if err != nil {
			return outcome, err
		}
		claim.From, outcome.retryAfter = "", verdict.RetryAfter
		if verdict.Ended {
			claim.From = outcome.Holder
		} else if !verdict.Waited {
			return outcome, nil
		}
	}
	outcome.retryAfter = max(outcome.retryAfter, replay.Beat)
	return outcome, nil
}

// giveBack releases the key, even when the caller has disconnected. After a failure the
// process retries. If every retry fails, the lease ends the reservation.
func (p *passage) giveBack(ctx context.Context, r *reservation) {
	release := p.guard.Replays.Release
	if p.guard.Process != nil {
		release = p.guard.Process.Return
	}
	if err := release(context.WithoutCancel(ctx), r.key, r.token); err != nil {
		p.guard.Log.WarnContext(ctx, "an idempotency key stays reserved until the database answers or its lease ends",
			"request_id", p.call.RequestID, "operation", p.info.Name, "error", err)
	}
}
