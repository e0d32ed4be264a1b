package replay

import (
	"context"
	"time"
)

// Verdict is what is known of the call behind a reservation.
type Verdict struct {
	// Ended is true when no process works on the reservation: it may be taken over.
	Ended bool
	// Waited is true when it took time to know, in which the record may have changed.
	Waited bool
	// RetryAfter is when it is worth asking again, unless Ended.
	RetryAfter time.Duration
}

// maxTicks is how long Judge waits at most, in ticks: by then a process has beaten or
// been silent for too long, unless the database was away.
const maxTicks = int(Silence/Beat) + 3

// Judge says whether the process of a reservation still works on it. For another
// process it waits until that one shows a sign of life, which proves that it lives
// now, or has been silent for too long. It fails with the error of the store or of
// ctx.
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
			return Verdict{Waited: true, RetryAfter: wholeSeconds(Silence - silent)}, nil
		}
		select {
		case <-ctx.Done():
			return Verdict{}, context.Cause(ctx)
		case <-ticked:
		}
		s, known, ticked = p.sightOf(holder.Process)
	}
}

// sightOf is what is seen of a process, and what the next tick closes.
func (p *Process) sightOf(process string) (sight, bool, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, known := p.seen[process]
	return s, known, p.ticked
}

// wholeSeconds rounds up, as Retry-After has it.
func wholeSeconds(d time.Duration) time.Duration {
	return max((d + time.Second - 1).Truncate(time.Second), time.Second)
}
