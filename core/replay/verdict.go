package replay

import (
	"context"
	"time"
)

// Verdict is the result of [Process.Judge]: whether the call that made a reservation of an
// idempotency key still runs.
type Verdict struct {
	// Ended is true if no process uses the reservation, so that it may be taken over.
	Ended bool
	// Waited is true if Judge waited for a heartbeat of another process. The record of the
	// idempotency key may then have changed since the caller read it.
	Waited bool
	// RetryAfter is the time after which to try again; it has no meaning if Ended is true.
	RetryAfter time.Duration
}

// maxTicks is the maximum number of calls of [Process.Tick] for which Judge waits. After so
// many calls, the judged process has stored a new heartbeat or counts as ended, unless the
// database did not answer.
const maxTicks = int(Silence/Beat) + 3

// Judge reports whether the process that made the reservation in holder still runs and uses
// the reservation. For a process other than this one, it waits for a new heartbeat, or
// until the last one is older than Silence. It fails with the error of the store or of ctx.
func (p *Process) Judge(ctx context.Context, holder Record) (Verdict, error) {
	switch {
	case holder.Process == p.id:
		p.mu.Lock()
		defer p.mu.Unlock()
		return Verdict{Ended: !p.held[holder.Holder], RetryAfter: Beat}, nil
	case p.Alone:
		return Verdict{Ended: true}, nil
	case holder.Process == "":
		return Verdict{RetryAfter: Beat}, nil
	}
	first, known, ticked := p.lastHeartbeat(holder.Process)
	if !known {
		if err := p.look(ctx); err != nil {
			return Verdict{}, err
		}
		if first, known, ticked = p.lastHeartbeat(holder.Process); !known {
			return Verdict{Ended: true}, nil
		}
	}
	for s, waits := first, 0; ; waits++ {
		silent := p.Clock().Sub(s.since)
		switch {
		case !known, silent >= Silence:
			return Verdict{Ended: true, Waited: waits > 0}, nil
		case s.beats > first.beats:
			return Verdict{Waited: true, RetryAfter: Beat}, nil
		case waits == maxTicks:
			return Verdict{Waited: true, RetryAfter: ceilSeconds(Silence - silent)}, nil
		}
		select {
		case <-ctx.Done():
			return Verdict{}, context.Cause(ctx)
		case <-ticked:
		}
		s, known, ticked = p.lastHeartbeat(holder.Process)
	}
}

// HasEnded reports whether the process with the id has ended. It may wait, and fails with the
// same errors as [Process.Judge]. It returns false for "", the id of no process.
func (p *Process) HasEnded(ctx context.Context, process string) (bool, error) {
	if process == "" || process == p.id {
		return false, nil
	}
	verdict, err := p.Judge(ctx, Record{Process: process})
	return verdict.Ended, err
}

// lastHeartbeat returns the last heartbeat of a process that p has read, and whether p has
// read one. The returned channel is closed by the next Tick.
func (p *Process) lastHeartbeat(process string) (sight, bool, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, known := p.seen[process]
	return s, known, p.ticked
}

// ceilSeconds rounds d up to whole seconds, at least one, as Retry-After requires.
func ceilSeconds(d time.Duration) time.Duration {
	return max((d + time.Second - 1).Truncate(time.Second), time.Second)
}
