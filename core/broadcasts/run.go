package broadcasts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
)

// run is one drive of a broadcast by this process.
type run struct {
	*Dispatcher
	send OpenSend
	// paused is the pause that is stored, nil for none.
	paused *Pause
	// countAt is the time of the next count.
	countAt time.Time
}

// note stores why the broadcast waits, or that it goes on.
func (r *run) note(ctx context.Context, p handover.Progress) error {
	now := r.clock()
	var pause *Pause
	switch {
	case p.Hold == handover.AllMailStopped:
		pause = &Pause{Reason: PausedByStop, Since: now}
	case p.Hold == handover.DailyCap:
		pause = &Pause{Reason: PausedByCap, Since: now, ResumesAt: &p.Wait}
	case p.Wait.After(now.Add(longWait)):
		pause = &Pause{Reason: PausedByAccount, Since: now, ResumesAt: &p.Wait}
	case p.Claimed == 0 && p.Filtered == 0:
		return nil // says nothing new
	}
	if reasonOf(pause) == reasonOf(r.paused) {
		return nil
	}
	r.paused = pause
	return r.b.Store.SetPause(ctx, r.send.OrgID, r.send.ID, pause)
}

func reasonOf(p *Pause) PauseReason {
	if p == nil {
		return NotPaused
	}
	return p.Reason
}

// count stores the counts of recipients, unless it did so shortly before.
func (r *run) count(ctx context.Context) error {
	if r.clock().Before(r.countAt) {
		return nil
	}
	return r.recount(ctx)
}

// recount stores the counts of recipients.
func (r *run) recount(ctx context.Context) error {
	began := r.clock()
	counts, err := r.b.Outcomes.Counts(ctx, r.send.OrgID, r.send.ID)
	if err != nil {
		return err
	}
	r.countAt = r.clock().Add(max(countEvery, countShare*r.clock().Sub(began)))
	return r.b.Store.SetCounts(ctx, r.send.OrgID, r.send.ID, counts[handover.Sent], counts[handover.Failed], counts[handover.Filtered])
}

// finish ends a broadcast all of whose recipients have outcomes. It changes nothing
// otherwise.
func (d *Dispatcher) finish(ctx context.Context, send OpenSend) error {
	claimedAt, pendingAt, err := d.b.Outcomes.Unresolved(ctx, send.OrgID, send.ID)
	if err != nil || !claimedAt.IsZero() || !pendingAt.IsZero() {
		return err
	}
	return d.b.Transactor.InTx(ctx, func(ctx context.Context) error {
		found, err := d.b.Store.Broadcast(ctx, send.OrgID, send.ID)
		if err != nil || found.State != Sending {
			return err
		}
		counts, err := d.b.Outcomes.Counts(ctx, send.OrgID, send.ID)
		if err != nil || counts[handover.Pending]+counts[handover.HandingOver] > 0 {
			return err
		}
		now := d.clock()
		found = found.counted(counts)
		found.CompletedAt, found.UpdatedAt, found.Paused = &now, now, nil
		return d.b.Store.Update(ctx, send.OrgID, found)
	})
}

// counted returns an ended broadcast with the counts, and the state that follows from them.
func (b Broadcast) counted(counts map[handover.State]int) Broadcast {
	b.Sent, b.Failed, b.Filtered = counts[handover.Sent], counts[handover.Failed], counts[handover.Filtered]
	b.State = Sent
	if b.Failed > 0 {
		b.State = PartiallyFailed
	}
	return b
}
