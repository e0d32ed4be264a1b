package approving

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/broadcasts"
)

// decision is how an approval ends.
type decision struct {
	State  approvals.State
	By     string
	Reason string
	// Size is the approved number of members.
	Size int
}

// voided returns the end of an approval for a cause.
func voided(why broadcasts.VoidCause) decision {
	return decision{State: approvals.Voided, Reason: string(why)}
}

// endActions are the names of the ends in the audit log.
var endActions = map[approvals.State]string{
	approvals.Approved: "send.approved", approvals.Rejected: "send.rejected", approvals.Voided: "send.approval_voided", approvals.Expired: "send.approval_expired",
}

// end stores the end of an approval and records it in the audit log. It fails with
// core.CodeConflict if the approval does not wait any more.
func (g Gate) end(ctx context.Context, orgID string, a approvals.Approval, d decision, by access.Actor, now time.Time) error {
	a.State, a.DecidedAt, a.DecidedBy, a.Reason, a.ApprovedSize = d.State, &now, d.By, d.Reason, d.Size
	ended, err := g.Store.End(ctx, orgID, a)
	if err != nil {
		return err
	}
	if !ended {
		return decided()
	}
	return g.record(ctx, orgID, a, endActions[d.State], by, now)
}

// decided is the refusal of a second decision.
func decided() *core.Error {
	return core.Conflict("This approval does not wait for a decision any more.", "Open the page again to see how it ended.")
}

// record appends an event about an approval to the audit log.
func (g Gate) record(ctx context.Context, orgID string, a approvals.Approval, action string, by access.Actor, now time.Time) error {
	detail := map[string]any{
		"broadcast_id": a.BroadcastID, "asked_by": a.AskedBy.ID, "for_user": a.AskedBy.UserID, "audience_size": a.Preview.AudienceSize, "digest": a.Digest,
	}
	if a.State == approvals.Voided {
		detail["cause"] = a.Reason // a word of ours; the text of a person stays out of the log
	}
	return access.RecordAudit(ctx, g.Audit, now, access.AuditEntry{Actor: by, OrgID: orgID, Action: action, Subject: a.ID, Detail: detail})
}
