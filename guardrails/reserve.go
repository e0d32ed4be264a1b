package guardrails

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/replay"
)

// maxHolders is the maximum number of times that a call tries to reserve its idempotency
// key. If another call has reserved the key, the call may wait before the next try until
// it is known whether the process of that other call has ended.
const maxHolders = 3

// contest is the result of an attempt to reserve an idempotency key.
type contest struct {
	replay.Record
	won bool
	// retryAfter is how long the caller should wait before it tries again. It has a meaning
	// only if a call that still runs has reserved the idempotency key.
	retryAfter time.Duration
}

// reserve tries to reserve the idempotency key of the call. It makes a token for the
// reservation and registers it with this process before other calls can see the
// reservation. It unregisters the token if another call has the key.
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
	case err != nil: // the key may be reserved although Reserve failed
		p.giveBack(ctx, r)
	case !outcome.won:
		process.Drop(r.token)
	}
	return outcome, err
}

// contend tries to reserve the idempotency key, and takes over a reservation whose process
// has ended. Finding out whether a process has ended may take a little longer than
// [replay.Silence].
func (p *passage) contend(ctx context.Context, key replay.Key, claim replay.Claim) (contest, error) {
	var outcome contest
	for range maxHolders {
		var err error
		outcome.Record, outcome.won, err = p.guard.Replays.Reserve(ctx, key, claim, p.guard.Clock())
		if err != nil || outcome.won || outcome.Done {
			return outcome, err
		}
		if outcome.retryAfter > 0 && claim.From == "" {
			// the process that reserved the key still runs, so this call does not take over
			// the key
			return outcome, nil
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

// giveBack releases the key of the call, even if the caller has disconnected. If that
// fails, the process retries later. If every retry fails, the key is free when the lease
// expires.
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
