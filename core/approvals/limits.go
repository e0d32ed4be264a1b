package approvals

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/handover"
)

// Limits changes what package handover lets leave. All fields are required. Callers check
// permissions, and call it in a transaction.
type Limits struct {
	Store handover.LimitStore
	Audit access.AuditAppender
	Clock core.Clock
}

// maxCap is the maximum of the recipients a day of an application.
const maxCap = 100_000_000

// StopMail stops all mail of the organization: broadcasts pause, and test sends are refused.
// If it is stopped already, StopMail changes nothing.
func (l Limits) StopMail(ctx context.Context, by access.Actor, orgID string) error {
	stop, err := l.Store.Stopped(ctx, orgID)
	if err != nil || stop != nil {
		return err
	}
	now := l.Clock()
	if err := l.Store.SetStop(ctx, orgID, &handover.Stop{At: now, By: by.ID}); err != nil {
		return err
	}
	return access.RecordAudit(ctx, l.Audit, now, access.AuditEntry{Actor: by, OrgID: orgID, Action: "mail.stopped"})
}

// AllowMail ends the stop of all mail. Broadcasts that wait for it go on. Without a stop,
// AllowMail changes nothing.
func (l Limits) AllowMail(ctx context.Context, by access.Actor, orgID string) error {
	stop, err := l.Store.Stopped(ctx, orgID)
	if err != nil || stop == nil {
		return err
	}
	if err := l.Store.SetStop(ctx, orgID, nil); err != nil {
		return err
	}
	return access.RecordAudit(ctx, l.Audit, l.Clock(), access.AuditEntry{
		Actor: by, OrgID: orgID, Action: "mail.allowed", Detail: map[string]any{"stopped_at": stop.At, "stopped_by": stop.By},
	})
}

// SetCap sets the maximum number of recipients a day (UTC) of an application; nil removes
// it. It fails with core.CodeValidationFailed for a number below 1.
func (l Limits) SetCap(ctx context.Context, by access.Actor, orgID, application string, recipients *int) error {
	if recipients != nil && (*recipients < 1 || *recipients > maxCap) {
		return core.Invalid("recipients_a_day", fmt.Sprintf("must be from 1 to %d; leave it empty for no limit", maxCap))
	}
	all, err := l.Store.Caps(ctx, orgID)
	if err != nil {
		return err
	}
	before, had := all[application]
	if !had && recipients == nil || had && recipients != nil && before == *recipients {
		return nil
	}
	if err := l.Store.SetCap(ctx, orgID, application, recipients); err != nil {
		return err
	}
	edit := access.Edited{After: recipients}
	if had {
		edit.Before = before
	}
	return access.RecordAudit(ctx, l.Audit, l.Clock(), access.AuditEntry{
		Actor: by, OrgID: orgID, Action: "send.cap_set", Subject: application, Detail: map[string]any{"recipients_a_day": edit},
	})
}
