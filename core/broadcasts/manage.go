package broadcasts

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The functions below are what people do with broadcasts on the dashboard. No operation does
// it. Callers check permissions. Each is one transaction, and takes part in that of its
// context.

// change reads and locks a broadcast, and stores what edit returns. It fails with
// core.CodeConflict if the revision is not the stored one; 0 stands for any.
func (b *Broadcasts) change(ctx context.Context, orgID, id string, revision int, edit func(context.Context, Broadcast) (Broadcast, error)) (Broadcast, error) {
	var changed Broadcast
	err := b.Transactor.InTx(ctx, func(ctx context.Context) error {
		found, err := b.Store.Broadcast(ctx, orgID, id)
		if err != nil {
			return err
		}
		if revision != 0 && revision != found.Revision {
			return core.Conflict("The broadcast was changed since you opened it.", "Open it again and repeat the change.")
		}
		if changed, err = edit(ctx, found); err != nil {
			return err
		}
		changed.UpdatedAt = b.Clock()
		changed.Revision = found.Revision + 1
		why := VoidedByEdit
		if changed.State == Cancelled {
			why = VoidedByCancel
		}
		if err := b.void(ctx, orgID, id, why, changed.UpdatedAt); err != nil {
			return err
		}
		return b.Store.Update(ctx, orgID, changed)
	})
	return changed, err
}

// refuseState returns the refusal of a change in the state of the broadcast.
func refuseState(of Broadcast, what string) *core.Error {
	return core.Conflict(fmt.Sprintf("A broadcast in the state %s cannot be %s.", core.Quote(string(of.State)), what), "Open the broadcast again to see what can be done with it.")
}

// Edit replaces what a draft or a scheduled broadcast says. revision is that of the
// broadcast that the person saw.
func (b *Broadcasts) Edit(ctx context.Context, orgID, id string, revision int, d Definition) (Broadcast, error) {
	return b.change(ctx, orgID, id, revision, func(ctx context.Context, found Broadcast) (Broadcast, error) {
		if found.State != Draft && found.State != Scheduled {
			return found, refuseState(found, "edited")
		}
		changed, err := b.apply(ctx, orgID, d, found)
		if found.Paused != nil && found.Paused.Reason == PausedByFault {
			changed.Paused = nil
		}
		if changed.AudienceID != found.AudienceID {
			changed.Share = nil
		}
		return changed, err
	})
}

// Reschedule moves a scheduled broadcast to another time; nil makes it a draft again.
func (b *Broadcasts) Reschedule(ctx context.Context, orgID, id string, revision int, at *time.Time) (Broadcast, error) {
	return b.change(ctx, orgID, id, revision, func(_ context.Context, found Broadcast) (Broadcast, error) {
		if found.State != Scheduled {
			return found, refuseState(found, "rescheduled")
		}
		now := b.Clock()
		switch {
		case at == nil:
			found.State, found.ScheduleAt, found.Paused = Draft, nil, nil
		case !at.After(now):
			return found, core.Invalid("scheduled_at", "must be in the future")
		case at.After(now.Add(maxAhead)):
			return found, core.Invalid("scheduled_at", "must be at most a year ahead")
		default:
			utc := at.UTC()
			found.ScheduleAt = &utc
			if found.Paused != nil && found.Paused.Reason == PausedByFault {
				found.Paused = nil
			}
		}
		return found, nil
	})
}

// Cancel ends a draft or a scheduled broadcast without sending it.
func (b *Broadcasts) Cancel(ctx context.Context, orgID, id string) (Broadcast, error) {
	return b.change(ctx, orgID, id, 0, func(_ context.Context, found Broadcast) (Broadcast, error) {
		if found.State != Draft && found.State != Scheduled {
			return found, refuseState(found, "cancelled")
		}
		found.State, found.ScheduleAt, found.Paused = Cancelled, nil, nil
		return found, nil
	})
}

// Pause lets a scheduled or sending broadcast wait. Messages that workers have claimed
// already, at most 50 for each worker, still leave.
func (b *Broadcasts) Pause(ctx context.Context, orgID, id string) (Broadcast, error) {
	return b.change(ctx, orgID, id, 0, func(_ context.Context, found Broadcast) (Broadcast, error) {
		if found.State != Scheduled && found.State != Sending {
			return found, refuseState(found, "paused")
		}
		if !found.IsPaused() {
			found.Paused = &Pause{Reason: PausedByPerson, Since: b.Clock()}
		}
		return found, nil
	})
}

// Resume lets a paused broadcast go on.
func (b *Broadcasts) Resume(ctx context.Context, orgID, id string) (Broadcast, error) {
	resumed, err := b.change(ctx, orgID, id, 0, func(_ context.Context, found Broadcast) (Broadcast, error) {
		if found.Paused == nil || found.State.IsOver() {
			return found, refuseState(found, "resumed, because it is not paused")
		}
		found.Paused = nil
		return found, nil
	})
	if err == nil {
		b.wake()
	}
	return resumed, err
}

// SetRate sets the maximum number of messages a minute of a broadcast that has not ended; 0
// removes the limit.
func (b *Broadcasts) SetRate(ctx context.Context, orgID, id string, perMinute int) (Broadcast, error) {
	if perMinute < 0 || perMinute > maxRate {
		return Broadcast{}, core.Invalid("rate_per_minute", fmt.Sprintf("must be from 1 to %d; leave it empty for no limit", maxRate))
	}
	return b.change(ctx, orgID, id, 0, func(_ context.Context, found Broadcast) (Broadcast, error) {
		if found.State.IsOver() {
			return found, refuseState(found, "changed")
		}
		found.Rate = perMinute
		return found, nil
	})
}

// suffixDigits is the number of hexadecimal digits of the end of a contact's id that decide
// to which share it belongs; suffixLength is the length of that end.
const (
	suffixDigits = 4
	suffixLength = 12
)

// Split makes two drafts of one, for trying a message with a part of the audience: the new
// draft goes to percent of the members, and the other one to the rest. It returns the new
// draft.
func (b *Broadcasts) Split(ctx context.Context, c *core.Call, orgID, id string, percent int) (Broadcast, error) {
	if percent < 1 || percent > 50 {
		return Broadcast{}, core.Invalid("percent", "must be from 1 to 50")
	}
	var first Broadcast
	_, err := b.change(ctx, orgID, id, 0, func(ctx context.Context, found Broadcast) (Broadcast, error) {
		if found.State != Draft || found.Share != nil {
			return found, refuseState(found, "split: only a draft to a whole audience can be")
		}
		const all = 1 << (4 * suffixDigits)
		size := int(math.Round(all * float64(percent) / 100))
		from := rand.IntN(all - size) //nolint:gosec // which contacts are tried first is no secret
		share := Share{From: suffix(from), To: suffix(from + size)}
		first = found
		first.ID, first.Name, first.Share, first.Revision = core.NewID(), fmt.Sprintf("%s (%d %% first)", found.Name, percent), &share, 1
		first.CreatedAt, first.UpdatedAt, first.CreatedBy = b.Clock(), b.Clock(), authorOf(c)
		rest := share
		rest.Rest = true
		found.Share, found.Name = &rest, fmt.Sprintf("%s (rest)", found.Name)
		return found, b.Store.Insert(ctx, orgID, first)
	})
	return first, err
}

// suffix returns the least end of an id whose first digits are the number.
func suffix(n int) string {
	return fmt.Sprintf("%0*x%0*d", suffixDigits, n, suffixLength-suffixDigits, 0)
}
