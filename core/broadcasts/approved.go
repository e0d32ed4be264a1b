package broadcasts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Standing is what a send of a draft would do now.
type Standing struct {
	Broadcast Broadcast
	Preview   SendPreview
	// Warnings are what an author should know before the broadcast is sent.
	Warnings []string
	// Refusal is why it cannot be sent, nil if it can. Preview may then be incomplete.
	Refusal *core.Error
}

// Standing returns what a send of the broadcast at the time would do now; nil stands for at
// once. Pages call it. It fails with core.CodeNotFound if the broadcast does not exist.
func (b *Editor) Standing(ctx context.Context, orgID, id string, at *time.Time) (Standing, error) {
	found, err := b.Store.Broadcast(ctx, orgID, id)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Broadcast: found}
	if found.State == Draft {
		if _, err := b.checkSendable(ctx, orgID, found); isRefusal(err) {
			s.Refusal = core.AsError(err)
		} else if err != nil {
			return Standing{}, err
		}
	}
	reach, err := b.Audience.Reach(ctx, orgID, found.Target, found.Topic)
	if err != nil {
		return Standing{}, err
	}
	if s.Warnings, err = b.warnings(ctx, orgID, found, reach); err != nil || s.Refusal != nil {
		return s, err
	}
	s.Preview, err = b.sendPreview(ctx, orgID, found, at)
	if isRefusal(err) {
		s.Refusal, err = core.AsError(err), nil
	}
	return s, err
}

// SendApproved sends a draft that a person has approved: at the time, or at once if the time
// is nil or has passed. application is the application that asked for the send. Call it in
// the transaction that stores the approval. check gets the locked draft and what the send
// does; if it fails, nothing is sent.
func (b *Editor) SendApproved(ctx context.Context, orgID, id, application string, at *time.Time, check func(Broadcast, SendPreview) error) (Broadcast, error) {
	now := b.Clock()
	found, err := b.Store.Broadcast(ctx, orgID, id)
	if err != nil {
		return Broadcast{}, err
	}
	if found.State != Draft {
		return Broadcast{}, refuseState(found, "approved")
	}
	content, err := b.checkSendable(ctx, orgID, found)
	if err != nil {
		return Broadcast{}, err
	}
	preview, err := b.sendPreview(ctx, orgID, found, at)
	if err != nil {
		return Broadcast{}, err
	}
	if err := check(found, preview); err != nil {
		return Broadcast{}, err
	}
	found.Application, found.UpdatedAt = application, now
	if at != nil && at.After(now) {
		utc := at.UTC()
		found.State, found.ScheduleAt = Scheduled, &utc
		return found, b.Store.Update(ctx, orgID, found)
	}
	return b.start(ctx, orgID, found, content, now)
}

// LookForWork lets the dispatcher of this process look for broadcasts at once. Call it after
// the transaction of SendApproved.
func (b *Editor) LookForWork() { b.wake() }
