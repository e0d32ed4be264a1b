package inboxes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Switch enables and disables inboxes for organizations. It does not check permissions:
// callers do.
type Switch struct {
	Store Store
	Audit access.AuditAppender
	Clock core.Clock
}

// SetDisabled enables or disables new inboxes for an organization, in the transaction of ctx.
// Live inboxes stay. A change is recorded in the audit log. It may be repeated.
func (s Switch) SetDisabled(ctx context.Context, actor access.Actor, orgID string, disabled bool) error {
	changed, err := s.Store.SetDisabled(ctx, orgID, disabled)
	if err != nil || !changed {
		return err
	}
	action := "inboxes.enabled"
	if disabled {
		action = "inboxes.disabled"
	}
	return access.RecordAudit(ctx, s.Audit, s.Clock(), access.AuditEntry{Actor: actor, Action: action, OrgID: orgID, Subject: orgID})
}
