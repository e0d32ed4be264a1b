package broadcasts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// StartDue starts a scheduled broadcast whose time has come. One that cannot be sent any more
// is paused, and its cause logged. It may be repeated, and changes nothing if the broadcast is
// not due.
func (b *Editor) StartDue(ctx context.Context, orgID, id string) error {
	if err := b.RefreshSuppressions(ctx, orgID); err != nil {
		b.Log.WarnContext(ctx, "the suppression list could not be read before a send", "org_id", orgID, "error", err)
	}
	return b.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := b.Clock()
		found, err := b.Store.Broadcast(ctx, orgID, id)
		if core.IsNotFound(err) || err == nil && !isDue(found, now) {
			return nil // deleted, changed, or started by another process
		}
		if err != nil {
			return err
		}
		content, err := b.checkSendable(ctx, orgID, found)
		if isRefusal(err) {
			b.Log.WarnContext(ctx, "a scheduled broadcast cannot be sent", "org_id", orgID, "broadcast_id", id, "error", err)
			return b.Store.SetPause(ctx, orgID, id, &Pause{Reason: PausedByFault, Since: now})
		}
		if err != nil {
			return err
		}
		if held, err := b.holdStart(ctx, orgID, found, now); err != nil || held {
			return err
		}
		_, err = b.start(ctx, orgID, found, content, now)
		return err
	})
}

// isDue reports whether a scheduled broadcast starts now.
func isDue(b Broadcast, now time.Time) bool {
	return b.State == Scheduled && b.ScheduleAt != nil && !b.ScheduleAt.After(now) && !b.IsPaused()
}
