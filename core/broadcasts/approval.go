package broadcasts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Approvals holds sends back until a person approves them; see package approvals. Every
// method takes part in the transaction of its context, in which the caller has locked the
// broadcast.
type Approvals interface {
	// Needs reports whether a send by the caller with this preview would wait for a person.
	Needs(ctx context.Context, orgID string, by Author, to Target, p SendPreview) (bool, error)
	// Hold returns the approval for which the send must wait, nil if it may go at once. It
	// stores a new one, unless the same send waits already. If the send may go, it voids the
	// approval for which the broadcast waited.
	Hold(ctx context.Context, orgID string, ask Ask) (*Approval, error)
	// HoldStart does so when a scheduled send is to start. It compares the send with what a
	// person has approved.
	HoldStart(ctx context.Context, orgID string, ask Ask) (*Approval, error)
	// Void ends the approval for which the broadcast waits, if there is one.
	Void(ctx context.Context, orgID, broadcastID string, why VoidCause, now time.Time) error
	// Latest returns the latest approval of each of the broadcasts that has one.
	Latest(ctx context.Context, orgID string, broadcastIDs []string) (map[string]Approval, error)
}

// VoidCause says why an approval that was asked for cannot be given any more.
type VoidCause string

// The causes.
const (
	VoidedByEdit   VoidCause = "edited"
	VoidedByCancel VoidCause = "cancelled"
	VoidedByDelete VoidCause = "deleted"
	// VoidedBySend: the broadcast was sent by a caller who needs no approval.
	VoidedBySend VoidCause = "sent"
	// VoidedByAsking: the broadcast was asked for again, with other content or for another time.
	VoidedByAsking VoidCause = "asked_again"
)

// Ask is a send that a caller asks for.
type Ask struct {
	Broadcast Broadcast
	// By is the caller. HoldStart does not read it.
	By Author
	// At is the time of the send, nil for at once.
	At  *time.Time
	Now time.Time
	// Preview computes what the send would do. It reads the whole audience.
	Preview func(context.Context) (SendPreview, error)
}

// Approval is the decision of a person about a send, as callers see it.
type Approval struct {
	Status      string     `json:"status" jsonschema:"enum=pending,enum=approved,enum=rejected,enum=voided,enum=expired"`
	RequestedAt time.Time  `json:"requested_at"`
	ExpiresAt   time.Time  `json:"expires_at" jsonschema_description:"When it ends without a decision."`
	DecidedAt   *time.Time `json:"decided_at" jsonschema:"nullable"`
	Reason      *string    `json:"reason" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Why it was rejected or voided."`
	URL         string     `json:"url" voice:"ours" jsonschema_description:"Page where a person decides."`

	// ScheduledAt is the time of the send that was asked for, nil for at once.
	ScheduledAt *time.Time `json:"-"`
}

// The values of Approval.Status.
const (
	ApprovalPending  = "pending"
	ApprovalApproved = "approved"
	ApprovalRejected = "rejected"
	ApprovalVoided   = "voided"
	ApprovalExpired  = "expired"
)

// hold asks whether the send must wait for a person. It returns nil if it may go.
func (b *Broadcasts) hold(ctx context.Context, c *core.Call, of Broadcast, at *time.Time) (*Approval, error) {
	if b.Approvals == nil {
		return nil, nil
	}
	org := c.Principal.Org.ID
	return b.Approvals.Hold(ctx, org, b.askFor(org, of, authorOf(c), at, c.Now))
}

func (b *Broadcasts) askFor(orgID string, of Broadcast, by Author, at *time.Time, now time.Time) Ask {
	return Ask{Broadcast: of, By: by, At: at, Now: now, Preview: func(ctx context.Context) (SendPreview, error) {
		return b.sendPreview(ctx, orgID, of, at)
	}}
}

// holdStart makes a scheduled broadcast whose time has come a draft again if it must wait
// for a person, and reports whether it did.
func (b *Broadcasts) holdStart(ctx context.Context, orgID string, of Broadcast, now time.Time) (bool, error) {
	if b.Approvals == nil {
		return false, nil
	}
	held, err := b.Approvals.HoldStart(ctx, orgID, b.askFor(orgID, of, Author{}, of.ScheduleAt, now))
	if err != nil || held == nil {
		return false, err
	}
	of.State, of.ScheduleAt, of.Paused, of.UpdatedAt = Draft, nil, nil, now
	return true, b.Store.Update(ctx, orgID, of)
}

// void ends the approval for which a broadcast waits, if there is one.
func (b *Broadcasts) void(ctx context.Context, orgID, id string, why VoidCause, now time.Time) error {
	if b.Approvals == nil {
		return nil
	}
	return b.Approvals.Void(ctx, orgID, id, why, now)
}

// approvalOf returns the latest approval of a broadcast, nil for none.
func (b *Broadcasts) approvalOf(ctx context.Context, orgID, id string) (*Approval, error) {
	all, err := b.approvalsOf(ctx, orgID, []string{id})
	if found, has := all[id]; has {
		return &found, err
	}
	return nil, err
}

func (b *Broadcasts) approvalsOf(ctx context.Context, orgID string, ids []string) (map[string]Approval, error) {
	if b.Approvals == nil || len(ids) == 0 {
		return nil, nil
	}
	return b.Approvals.Latest(ctx, orgID, ids)
}

// waitsText says that a send waits for a person, and where the person decides.
func waitsText(a Approval) string {
	when := "at once"
	if a.ScheduledAt != nil {
		when = "at " + a.ScheduledAt.UTC().Format(time.RFC3339)
	}
	return "Nothing is sent yet: a person must approve this send, which is to begin " + when + ". The person decides at " + a.URL +
		" until " + a.ExpiresAt.UTC().Format(time.RFC3339) + ". Read the outcome with broadcasts_get_status."
}

// approvalStep says what to do after the decision about a draft, "" if it changes nothing.
func approvalStep(a *Approval) string {
	if a == nil {
		return ""
	}
	reason := ""
	if a.Reason != nil {
		reason = ": " + core.Quote(*a.Reason)
	}
	switch a.Status {
	case ApprovalPending:
		return waitsText(*a)
	case ApprovalRejected:
		return "A person rejected the send" + reason + ". Do what the reason asks for, in a new broadcast, or let a person edit this one. Then broadcasts_send asks for approval again."
	case ApprovalVoided:
		return "The approval that was asked for is void" + reason + ". Check the draft with broadcasts_preview, then ask again with broadcasts_send."
	case ApprovalExpired:
		return "No person decided in time, so nothing was sent. Remind the people of the organization, then ask again with broadcasts_send."
	}
	return ""
}
