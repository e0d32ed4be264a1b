package members

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

// removal is the audit detail of the end of a membership, with the numbers of revoked
// grants and withdrawn invitations.
type removal struct {
	Role        Role `json:"role"`
	Left        bool `json:"left"` // true if the person left, false if another member removed the person
	Grants      int  `json:"grants_revoked"`
	Invitations int  `json:"invitations_withdrawn"`
}

// RemoveMember ends a membership. Every member may end their own. To remove another member,
// the actor needs the permission members.manage; to remove an owner, the actor must be an
// owner or the operator. RemoveMember revokes the person's grants to clients in this
// organization, and deletes the open invitations that the person made.
//
// It fails with core.CodeNotFound for a user who is not a member, and with
// core.CodeConflict for the last owner.
func (m Memberships) RemoveMember(ctx context.Context, actor access.Actor, orgID, userID string) error {
	err := m.change(ctx, orgID, func(ctx context.Context, now time.Time) error {
		may, err := m.authority(ctx, orgID, actor)
		if err != nil {
			return err
		}
		leaves := actor.Kind == access.Person && actor.ID == userID
		if !leaves {
			if err := may.need(MayManageMembers); err != nil {
				return err
			}
		}
		member, err := m.Members.Member(ctx, orgID, userID)
		if err != nil {
			return err
		}
		if member.Role == Owner {
			if !may.owns() {
				return ownersOnlyError()
			}
			if err := m.requireOtherOwner(ctx, member); err != nil {
				return err
			}
		}
		ended, err := m.endWith(ctx, member, now)
		if err != nil {
			return err
		}
		ended.Left = leaves
		return m.record(ctx, now, access.AuditEntry{
			Actor: actor, Action: "member.removed", OrgID: orgID, Subject: userID, Detail: ended,
		})
	})
	if err == nil {
		m.forgetUser(userID)
	}
	return err
}

// endWith removes a member, revokes the member's grants and deletes the member's
// invitations.
func (m Memberships) endWith(ctx context.Context, member Member, now time.Time) (removal, error) {
	grants, err := m.Grants.RevokeGrantsOfUser(ctx, member.OrgID, member.UserID, now)
	if err != nil {
		return removal{}, err
	}
	invitations, err := m.Invitations.DeleteInvitationsBy(ctx, member.OrgID, member.UserID)
	if err != nil {
		return removal{}, err
	}
	return removal{Role: member.Role, Grants: len(grants), Invitations: invitations},
		m.Members.RemoveMember(ctx, member.OrgID, member.UserID)
}
