package replay

import (
	"context"
	"time"
)

// Verdict is whether the call behind a reservation still runs.
type Verdict struct {
	// Ended is true when no process works on the reservation: it may be taken over.
	Ended bool
	// Waited is true when Judge waited, so that the record may have changed.
	Waited bool
	// RetryAfter is when to ask again, unless Ended.
	RetryAfter time.Duration
}

// maxTicks bounds the wait of Judge, in ticks: by then a process has beaten or been silent
// for too long, unless the database was away.
const maxTicks = int(Silence/Beat) + 3

// Judge reports whether the process of a reservation still works on it. For another process
// it waits until that process shows a sign of life or has been silent for too long. It fails
// with the error of the store or of ctx.
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

// sightOf returns the last known sign of life of a process, and a channel that the next tick
// closes.
func (p *Process) sightOf(process string) (sight, bool, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, known := p.seen[process]
	return s, known, p.ticked
}

// ceilSeconds rounds up, as Retry-After has it.
func ceilSeconds(d time.Duration) time.Duration {
	return max((d + time.Second - 1).Truncate(time.Second), time.Second)
}
