package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
)

// run is one drive of a broadcast by this process.
type run struct {
	*Dispatcher
	send   broadcasts.OpenSend
	record broadcasts.Broadcast // as it was when the drive began

	pausing sync.Mutex
	// paused is the pause that is stored, nil for none. A lane stores it with pausing locked.
	paused *broadcasts.Pause

	counting sync.Mutex
	// countAt is the time of the next count. A lane counts with counting locked.
	countAt time.Time
}

// pass passes messages in several lanes until no recipient is due, or until the broadcast
// has to wait for longer than a drive does. It reports in ended that no recipient was due.
func (r *run) pass(ctx context.Context) (ended bool, err error) {
	var group sync.WaitGroup
	var noneDue [lanes]bool
	var errs [lanes]error
	for i := range lanes {
		group.Go(func() { noneDue[i], errs[i] = r.lane(ctx) })
	}
	group.Wait()
	return slices.Contains(noneDue[:], true), errors.Join(errs[:]...)
}

// lane passes messages step by step, as pass does. A panic becomes an error.
func (r *run) lane(ctx context.Context) (ended bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New(core.PanicText(v))
		}
	}()
	mailing, err := r.Sends.Mailing(r.record)
	if err != nil {
		return false, err
	}
	for ctx.Err() == nil {
		p, err := r.Steps.Step(ctx, r.send.OrgID, r.send.ID, mailing)
		if err == nil {
			err = r.note(ctx, p)
		}
		if err != nil {
			return false, err
		}
		switch {
		case p.Claimed > 0 || p.Filtered > 0:
			err = r.count(ctx)
		case p.Hold != "":
			return false, nil // the next look tries again
		case p.Wait.After(r.Clock().Add(longWait)):
			return false, nil
		case !p.Wait.IsZero():
			r.Wait(ctx, p.Wait)
		default:
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// note stores why the broadcast waits, or that it goes on.
func (r *run) note(ctx context.Context, p handover.Progress) error {
	r.pausing.Lock()
	defer r.pausing.Unlock()
	now := r.Clock()
	var pause *broadcasts.Pause
	switch {
	case p.Hold == handover.AllMailStopped:
		pause = &broadcasts.Pause{Reason: broadcasts.PausedByStop, Since: now}
	case p.Hold == handover.DailyCap:
		pause = &broadcasts.Pause{Reason: broadcasts.PausedByCap, Since: now, ResumesAt: &p.Wait}
	case p.Wait.After(now.Add(longWait)):
		pause = &broadcasts.Pause{Reason: broadcasts.PausedByAccount, Since: now, ResumesAt: &p.Wait}
	case p.Claimed == 0 && p.Filtered == 0:
		return nil // says nothing new
	}
	if reasonOf(pause) == reasonOf(r.paused) {
		return nil
	}
	r.paused = pause
	return r.Store.SetPause(ctx, r.send.OrgID, r.send.ID, pause)
}

func reasonOf(p *broadcasts.Pause) broadcasts.PauseReason {
	if p == nil {
		return broadcasts.NotPaused
	}
	return p.Reason
}

// count stores the counts of recipients, unless another lane counts them now or one did so
// shortly before.
func (r *run) count(ctx context.Context) error {
	if !r.counting.TryLock() {
		return nil
	}
	defer r.counting.Unlock()
	if r.Clock().Before(r.countAt) {
		return nil
	}
	return r.recount(ctx)
}

// recount stores the counts of recipients. No other lane may call it at the same time.
func (r *run) recount(ctx context.Context) error {
	began := r.Clock()
	counts, err := r.Outcomes.Counts(ctx, r.send.OrgID, r.send.ID)
	if err != nil {
		return err
	}
	r.countAt = r.Clock().Add(max(countEvery, countShare*r.Clock().Sub(began)))
	return r.Store.SetCounts(ctx, r.send.OrgID, r.send.ID, counts[handover.Sent], counts[handover.Failed], counts[handover.Filtered])
}

// finish ends a broadcast all of whose recipients have outcomes. It changes nothing
// otherwise.
func (d *Dispatcher) finish(ctx context.Context, send broadcasts.OpenSend) error {
	claimedAt, pendingAt, err := d.Outcomes.Unresolved(ctx, send.OrgID, send.ID)
	if err != nil || !claimedAt.IsZero() || !pendingAt.IsZero() {
		return err
	}
	return d.Transactor.InTx(ctx, func(ctx context.Context) error {
		found, err := d.Store.Broadcast(ctx, send.OrgID, send.ID)
		if err != nil || found.State != broadcasts.Sending {
			return err
		}
		counts, err := d.Outcomes.Counts(ctx, send.OrgID, send.ID)
		if err != nil || counts[handover.Pending]+counts[handover.HandingOver] > 0 {
			return err
		}
		now := d.Clock()
		found = counted(found, counts)
		found.CompletedAt, found.UpdatedAt, found.Paused = &now, now, nil
		return d.Store.Update(ctx, send.OrgID, found)
	})
}

// counted returns an ended broadcast with the counts, and the state that follows from them.
func counted(b broadcasts.Broadcast, counts map[handover.State]int) broadcasts.Broadcast {
	b.Sent, b.Failed, b.Filtered = counts[handover.Sent], counts[handover.Failed], counts[handover.Filtered]
	b.State = broadcasts.Sent
	if b.Failed > 0 {
		b.State = broadcasts.PartiallyFailed
	}
	return b
}
