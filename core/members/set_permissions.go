package members

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// SetPermissions replaces the permissions of a plain member and returns the member. It
// needs the permission members.manage. The actor must have each permission that it adds,
// but may remove any. If nothing changes, it writes nothing.
//
// It fails with core.CodeNotFound for a user who is not a member, and with
// core.CodeConflict for an owner.
func (m Memberships) SetPermissions(ctx context.Context, actor access.Actor, orgID, userID string, permissions []Permission) (Member, error) {
	wanted, err := checkPermissions(permissions)
	if err != nil {
		return Member{}, err
	}
	var member Member
	err = m.change(ctx, orgID, func(ctx context.Context, now time.Time) error {
		may, err := m.authority(ctx, orgID, actor)
		if err != nil {
			return err
		}
		if err := may.need(MayManageMembers); err != nil {
			return err
		}
		if member, err = m.Members.Member(ctx, orgID, userID); err != nil {
			return err
		}
		if member.Role == Owner {
			return core.Conflict("An owner has every permission.", "Change the role to member first.")
		}
		diff := diffPermissions(member.Permissions, wanted)
		if len(diff.Added)+len(diff.Removed) == 0 {
			return nil
		}
		if err := may.mayGive(PlainMember, diff.Added); err != nil {
			return err
		}
		member.Permissions = wanted
		if err := m.Members.SetMember(ctx, member); err != nil {
			return err
		}
		return m.record(ctx, now, access.AuditEntry{
			Actor: actor, Action: "member.permissions_updated", OrgID: orgID, Subject: userID, Detail: diff,
		})
	})
	if err != nil {
		return Member{}, err
	}
	m.forgetUser(userID)
	return member, nil
}
