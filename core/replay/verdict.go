package replay

import (
	"context"
	"time"
)

// Verdict is the result of Judge: whether the call with a reservation still runs.
type Verdict struct {
	// Ended is true when no process works on the reservation: it may be taken over.
	Ended bool
	// Waited is true when Judge waited. The record may then have changed.
	Waited bool
	// RetryAfter is the time until the caller should ask again, unless Ended.
	RetryAfter time.Duration
}

// maxTicks is the longest wait of Judge, in ticks. By then a process has stored a beat or
// has been silent for too long, unless the database did not answer.
const maxTicks = int(Silence/Beat) + 3

// Judge reports whether the process of a reservation still works on it. For another process,
// it waits for a new beat or until the process has been silent for too long. It fails with
// the error of the store or of ctx.
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
	first, known, ticked := p.sightOf(holder.Process)
	if !known {
		if err := p.look(ctx); err != nil {
			return Verdict{}, err
		}
		if first, known, ticked = p.sightOf(holder.Process); !known {
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
		s, known, ticked = p.sightOf(holder.Process)
	}
}

// sightOf returns the last known beat of a process, and a channel that the next tick closes.
func (p *Process) sightOf(process string) (sight, bool, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, known := p.seen[process]
	return s, known, p.ticked
}

// ceilSeconds rounds d up to whole seconds, at least one, because Retry-After has whole
// seconds.
func ceilSeconds(d time.Duration) time.Duration {
	return max((d + time.Second - 1).Truncate(time.Second), time.Second)
}
