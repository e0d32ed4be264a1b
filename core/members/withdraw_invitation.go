package members

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

// WithdrawInvitation deletes an invitation, so that its link no longer works. It needs the
// permission members.manage. It fails with core.CodeNotFound if the invitation is not open.
func (m Memberships) WithdrawInvitation(ctx context.Context, actor access.Actor, orgID, id string) error {
	return m.change(ctx, orgID, func(ctx context.Context, now time.Time) error {
		may, err := m.authority(ctx, orgID, actor)
		if err != nil {
			return err
		}
		if err := may.need(MayManageMembers); err != nil {
			return err
		}
		if err := m.Invitations.DeleteInvitation(ctx, orgID, id); err != nil {
			return err
		}
		return m.record(ctx, now, access.AuditEntry{Actor: actor, Action: "member.invitation_withdrawn", OrgID: orgID, Subject: id})
	})
}
