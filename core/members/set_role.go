package members

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

// roleChange is the audit detail of a change of role.
type roleChange struct {
	Before Role `json:"before"`
	After  Role `json:"after"`
}

// SetRole changes the role of a member and returns the member. Only an owner or the
// operator may do it. An owner who becomes a plain member has no permissions until
// [Memberships.SetPermissions] sets them.
//
// It fails with core.CodeNotFound for a user who is not a member, and with
// core.CodeConflict for the last owner.
func (m Memberships) SetRole(ctx context.Context, actor access.Actor, orgID, userID string, role Role) (Member, error) {
	if err := checkRole(role); err != nil {
		return Member{}, err
	}
	var member Member
	err := m.change(ctx, orgID, func(ctx context.Context, now time.Time) error {
		may, err := m.authority(ctx, orgID, actor)
		if err != nil {
			return err
		}
		if !may.owns() {
			return ownersOnlyError()
		}
		if member, err = m.Members.Member(ctx, orgID, userID); err != nil || member.Role == role {
			return err
		}
		if member.Role == Owner {
			if err := m.requireOtherOwner(ctx, member); err != nil {
				return err
			}
		}
		detail := roleChange{Before: member.Role, After: role}
		member.Role, member.Permissions = role, nil
		if err := m.Members.SetMember(ctx, member); err != nil {
			return err
		}
		return m.record(ctx, now, access.AuditEntry{
			Actor: actor, Action: "member.role_updated", OrgID: orgID, Subject: userID, Detail: detail,
		})
	})
	if err != nil {
		return Member{}, err
	}
	m.forgetUser(userID)
	return member, nil
}
