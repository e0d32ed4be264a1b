package members

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// NewInvitation is the input of [Memberships.Invite].
type NewInvitation struct {
	OrgID       string
	Email       string
	Role        Role
	Permissions []Permission // permissions of an invited plain member; ignored for an owner
}

// invitationDetail is the audit detail of an invitation. It does not contain the email
// address.
type invitationDetail struct {
	Role        Role         `json:"role"`
	Permissions []Permission `json:"permissions"`
	// Replaces is the id of an earlier invitation of the same address, which the new
	// invitation withdrew; "" for none.
	Replaces string `json:"replaces,omitempty"`
}

// Invite makes an invitation and returns it with the secret of its link, which is not
// stored. It withdraws an earlier invitation of the same address. It needs the permission
// members.manage, and the actor must have every permission that the invitation gives.
//
// It fails with core.CodeConflict if the address belongs to a member, and if the
// organization has too many open invitations.
func (m Memberships) Invite(ctx context.Context, actor access.Actor, n NewInvitation) (Invitation, string, error) {
	if err := n.check(); err != nil {
		return Invitation{}, "", err
	}
	minted := access.MintLink()
	var made Invitation
	err := m.change(ctx, n.OrgID, func(ctx context.Context, now time.Time) error {
		may, err := m.authority(ctx, n.OrgID, actor)
		if err != nil {
			return err
		}
		if err := may.need(MayManageMembers); err != nil {
			return err
		}
		if err := may.mayGive(n.Role, n.Permissions); err != nil {
			return err
		}
		if err := m.notYetMember(ctx, n); err != nil {
			return err
		}
		made = Invitation{
			ID: core.NewID(), OrgID: n.OrgID, Hash: minted.Hash, Email: n.Email, Role: n.Role, Permissions: n.Permissions,
			InvitedBy: actor.ID, CreatedAt: now, ExpiresAt: now.Add(InvitationLifetime),
		}
		replaces, err := m.makeRoom(ctx, made)
		if err != nil {
			return err
		}
		if err := m.Invitations.InsertInvitation(ctx, made); err != nil {
			return err
		}
		return m.record(ctx, now, access.AuditEntry{
			Actor: actor, Action: "member.invited", OrgID: n.OrgID, Subject: made.ID,
			Detail: invitationDetail{Role: n.Role, Permissions: append([]Permission{}, n.Permissions...), Replaces: replaces},
		})
	})
	if err != nil {
		return Invitation{}, "", err
	}
	return made, minted.Secret, nil
}

func (n *NewInvitation) check() error {
	if !core.IsEmail(n.Email) {
		return core.Invalid("email", "must be an email address")
	}
	if err := checkRole(n.Role); err != nil {
		return err
	}
	if n.Role == Owner {
		n.Permissions = nil
		return nil
	}
	permissions, err := checkPermissions(n.Permissions)
	n.Permissions = permissions
	return err
}

// notYetMember fails with core.CodeConflict if the invited address belongs to a member. The
// actor may read the list of members, so this reveals nothing new.
func (m Memberships) notYetMember(ctx context.Context, n NewInvitation) error {
	user, err := m.Users.UserByEmail(ctx, n.Email)
	if err == nil {
		_, err = m.Members.Member(ctx, n.OrgID, user.ID)
	}
	switch {
	case core.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("member by address: %w", err)
	}
	return core.Conflict("A member has this address already.", "Change the member's permissions instead.")
}

// makeRoom deletes the organization's expired invitations and, if there is one, the open
// invitation for next.Email. It returns the id of that open invitation, or "". It fails
// with core.CodeConflict if too many open invitations of other addresses remain.
func (m Memberships) makeRoom(ctx context.Context, next Invitation) (string, error) {
	invitations, err := m.Invitations.Invitations(ctx, next.OrgID)
	if err != nil {
		return "", err
	}
	open, replaces := 0, ""
	for _, i := range invitations {
		expired := !next.CreatedAt.Before(i.ExpiresAt)
		if !expired && !i.IsFor(next.Email) {
			open++
			continue
		}
		if !expired {
			replaces = i.ID
		}
		if err := m.Invitations.DeleteInvitation(ctx, i.OrgID, i.ID); err != nil {
			return "", err
		}
	}
	if open >= maxInvitations {
		return "", core.Conflict(fmt.Sprintf("The organization has %d open invitations and cannot have more.", open), "Withdraw an invitation that is no longer needed.")
	}
	return replaces, nil
}
