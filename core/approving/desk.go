package approving

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/broadcasts"
)

// Desk is where people decide about approvals. All fields are required. Only pages of the
// dashboard call it, in transactions that check the permission of the visitor.
type Desk struct {
	Gate       Gate
	Broadcasts *broadcasts.Broadcasts
}

// Shown has the numbers that a person saw when deciding.
type Shown struct{ Size, Mailable int }

// maxReason is the maximum length of the reason of a rejection, in characters.
const maxReason = 500

// Case is an approval, with what its send would do now.
type Case struct {
	Approval approvals.Approval
	// Now is nil if the broadcast is not a draft any more, or was deleted.
	Now *broadcasts.Standing
	// Changed is true if the send is not the frozen one any more, so that it cannot be
	// approved.
	Changed bool
}

// Find returns one page of approvals.
func (d *Desk) Find(ctx context.Context, orgID string, waiting bool, cursor string, limit int) (core.Page[approvals.Approval], error) {
	filter := "approvals decided"
	if waiting {
		filter = "approvals waiting"
	}
	read := func(after *core.After, limit int) ([]approvals.Approval, error) {
		found, err := d.Gate.Store.Find(ctx, orgID, approvals.Filter{Waiting: waiting, After: after, Limit: limit})
		for i := range found {
			found[i] = found[i].At(d.Gate.Clock())
		}
		return found, err
	}
	return core.ReadPage(filter, cursor, limit, read, func(a approvals.Approval) core.After { return core.After{At: a.RequestedAt, ID: a.ID} })
}

// CountWaiting returns the number of approvals that wait for a decision.
func (d *Desk) CountWaiting(ctx context.Context, orgID string) (int, error) {
	return d.Gate.Store.CountWaiting(ctx, orgID, d.Gate.Clock())
}

// Case returns an approval with what its send would do now. It fails with
// core.CodeNotFound for an unknown id.
func (d *Desk) Case(ctx context.Context, orgID, id string) (Case, error) {
	a, err := d.readable(ctx, orgID, id)
	if err != nil {
		return Case{}, err
	}
	c := Case{Approval: a.At(d.Gate.Clock())}
	if c.Approval.State != approvals.Pending {
		return c, nil
	}
	if err := d.Broadcasts.RefreshSuppressions(ctx, orgID); err != nil {
		d.Broadcasts.Log.WarnContext(ctx, "the suppression list could not be read for an approval", "org_id", orgID, "error", err)
	}
	now, err := d.Broadcasts.Standing(ctx, orgID, a.BroadcastID, a.ScheduledAt)
	if core.IsNotFound(err) {
		return c, nil
	}
	if err != nil {
		return Case{}, err
	}
	c.Now = &now
	if now.Refusal == nil {
		c.Changed, err = isChanged(a, now.Broadcast, now.Preview)
	}
	return c, err
}

// readable returns an approval that people see.
func (d *Desk) readable(ctx context.Context, orgID, id string) (approvals.Approval, error) {
	a, err := d.Gate.Store.Approval(ctx, orgID, id)
	if err == nil && a.State == approvals.Unneeded {
		return approvals.Approval{}, core.NotFound("approval")
	}
	return a, err
}

// isChanged reports whether a send differs from the frozen one.
func isChanged(a approvals.Approval, b broadcasts.Broadcast, p broadcasts.SendPreview) (bool, error) {
	digest, err := DigestOf(b, p)
	return digest != a.Digest || b.Revision != a.Revision, err
}

// Outcome is the result of an approval.
type Outcome struct {
	// State is broadcasts.Sending or broadcasts.Scheduled.
	State broadcasts.State
	// Late is true if the time of the send had passed, so that it began at once.
	Late bool
}

// Approve approves a send with the numbers that the person saw, and begins or schedules it.
// Call it in a transaction that checks the permission of the user. It fails with
// core.CodeConflict if the approval does not wait any more, if the send is not the frozen
// one any more, or if its numbers are not those that the person saw. It fails with
// core.CodeInvalidScope for a person who asked for the send.
func (d *Desk) Approve(ctx context.Context, orgID, userID, id string, shown Shown) (Outcome, error) {
	a, err := d.readable(ctx, orgID, id)
	if err != nil {
		return Outcome{}, err
	}
	if IsOwn(a, userID) {
		return Outcome{}, &core.Error{Code: core.CodeInvalidScope, Message: "You asked for this send on the dashboard yourself, so another person must approve it."}
	}
	now := d.Gate.Clock()
	sent, err := d.Broadcasts.SendApproved(ctx, orgID, a.BroadcastID, a.AskedBy.Application(), a.ScheduledAt, func(b broadcasts.Broadcast, p broadcasts.SendPreview) error {
		return d.approve(ctx, orgID, userID, id, shown, b, p, now)
	})
	if core.IsNotFound(err) {
		err = decided()
	}
	return Outcome{State: sent.State, Late: a.ScheduledAt != nil && !a.ScheduledAt.After(now)}, err
}

// approve compares the send of a locked draft with the approval, and stores the decision.
func (d *Desk) approve(ctx context.Context, orgID, userID, id string, shown Shown, b broadcasts.Broadcast, p broadcasts.SendPreview, now time.Time) error {
	a, err := d.Gate.Store.Approval(ctx, orgID, id) // again, because the broadcast is locked now
	if err != nil {
		return err
	}
	if a.At(now).State != approvals.Pending {
		return decided()
	}
	changed, err := isChanged(a, b, p)
	if err != nil {
		return err
	}
	if changed {
		return core.Conflict("The broadcast is not the one for which approval was asked any more: its content, audience or topic changed.", "Reject it and say why. The caller can then ask again.")
	}
	if p.AudienceSize != shown.Size || p.Mailable != shown.Mailable {
		return core.Conflict("The audience changed while you looked at the page.", "Check the new numbers, then approve again.")
	}
	return d.Gate.end(ctx, orgID, a, decision{State: approvals.Approved, By: userID, Size: p.AudienceSize}, access.ActorOf(userID), now)
}

// IsOwn reports whether the user asked for the send as a person. A person for whom an
// application asked may decide about it: the approval is there for that person.
func IsOwn(a approvals.Approval, userID string) bool {
	return a.AskedBy.Kind == core.Person && a.AskedBy.ID == userID
}

// Reject refuses a send with a reason, which the caller reads. Call it in a transaction that
// checks the permission of the user. It fails with core.CodeValidationFailed without a
// reason, and with core.CodeConflict if the approval does not wait any more.
func (d *Desk) Reject(ctx context.Context, orgID, userID, id, reason string) error {
	reason = strings.TrimSpace(core.OnlyVisible(reason))
	if n := utf8.RuneCountInString(reason); n == 0 || n > maxReason {
		return core.Invalid("reason", "must have 1 to 500 characters, because the caller reads it")
	}
	a, err := d.readable(ctx, orgID, id)
	if err != nil {
		return err
	}
	now := d.Gate.Clock()
	if a.At(now).State != approvals.Pending {
		return decided()
	}
	return d.Gate.end(ctx, orgID, a, decision{State: approvals.Rejected, By: userID, Reason: reason}, access.ActorOf(userID), now)
}
