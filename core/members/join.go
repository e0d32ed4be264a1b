package members

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// Offer is what the page behind the link of an invitation shows.
type Offer struct {
	Invitation Invitation
	Org        core.Org
	// HasAccount reports whether the invited address has an account. MaySignIn reports
	// whether that account belongs to an organization; without one, it cannot sign in. Only
	// a person who has the link can see either.
	HasAccount, MaySignIn bool
}

// FindOffer returns the invitation with a link's secret. It fails with core.CodeNotFound,
// always with the same text, for a link that is unknown, used, withdrawn or expired. It
// fails in the same way if the inviter now lacks the permissions to make the invitation.
func (m Memberships) FindOffer(ctx context.Context, secret string) (Offer, error) {
	i, err := m.openInvitation(ctx, secret, m.Clock())
	if err != nil {
		return Offer{}, err
	}
	org, err := m.Orgs.Org(ctx, i.OrgID)
	if err != nil {
		return Offer{}, fmt.Errorf("organization of an invitation: %w", err)
	}
	offer := Offer{Invitation: i, Org: org}
	user, err := m.Users.UserByEmail(ctx, i.Email)
	if core.IsNotFound(err) {
		return offer, nil
	}
	if err != nil {
		return Offer{}, fmt.Errorf("user of an invitation: %w", err)
	}
	memberships, err := m.Members.MembershipsOf(ctx, user.ID)
	if err != nil {
		return Offer{}, fmt.Errorf("memberships: %w", err)
	}
	offer.HasAccount, offer.MaySignIn = true, len(memberships) > 0
	return offer, nil
}

// Join accepts an invitation for a user whose identity was proved, and returns the new
// member. The invitation cannot be used again. It fails with core.CodeNotFound for an
// invalid link, and with core.CodeConflict if the invitation is for another address or the
// user is a member already.
func (m Memberships) Join(ctx context.Context, secret string, user access.User) (Member, error) {
	return m.join(ctx, secret, func(_ context.Context, i Invitation, _ time.Time) (access.User, error) {
		if !i.IsFor(user.Email) {
			return access.User{}, core.Conflict("This invitation is for another address than yours.", "Sign in with the address that was invited.")
		}
		return user, nil
	})
}

// JoinNew accepts an invitation for an address without an account. It creates the account
// and returns the new member. It deletes the invitation before it hashes the password, so
// that of several concurrent calls only one computes a hash.
//
// It fails with core.CodeNotFound for an invalid link, with core.CodeValidationFailed for a
// refused name or password, and with core.CodeConflict if the address has an account.
func (m Memberships) JoinNew(ctx context.Context, secret, name, password string) (Member, error) {
	if err := access.CheckName(name); err != nil {
		return Member{}, err
	}
	return m.join(ctx, secret, func(ctx context.Context, i Invitation, now time.Time) (access.User, error) {
		if _, err := m.Users.UserByEmail(ctx, i.Email); !core.IsNotFound(err) {
			if err != nil {
				return access.User{}, fmt.Errorf("user of an invitation: %w", err)
			}
			return access.User{}, core.Conflict("An account with this address exists.", "Sign in, then open the link again.")
		}
		if err := passwords.CheckNew(password, i.Email); err != nil {
			return access.User{}, err
		}
		hash, err := passwords.Hash(password)
		if err != nil {
			return access.User{}, fmt.Errorf("password: %w", err)
		}
		user := access.User{ID: core.NewID(), Email: i.Email, Name: name, PasswordHash: hash, CreatedAt: now}
		return user, m.Users.InsertUser(ctx, user)
	})
}

// join deletes an invitation, finds or creates the user with the function in the parameter
// who, and makes the user a member. All this is one transaction. After a failure, the
// invitation stays open.
func (m Memberships) join(ctx context.Context, secret string, who func(context.Context, Invitation, time.Time) (access.User, error)) (Member, error) {
	found, err := m.openInvitation(ctx, secret, m.Clock())
	if err != nil {
		return Member{}, err
	}
	var member Member
	err = m.change(ctx, found.OrgID, func(ctx context.Context, now time.Time) error {
		// Read the invitation again: the organization is locked now, so the inviter's
		// permissions cannot change any more.
		i, err := m.openInvitation(ctx, secret, now)
		if err != nil {
			return err
		}
		if err := m.Invitations.DeleteInvitation(ctx, i.OrgID, i.ID); err != nil {
			return err
		}
		user, err := who(ctx, i, now)
		if err != nil {
			return err
		}
		member = Member{OrgID: i.OrgID, UserID: user.ID, Role: i.Role, Permissions: i.Permissions}
		if _, err := m.Members.Member(ctx, i.OrgID, user.ID); !core.IsNotFound(err) {
			if err != nil {
				return err
			}
			return core.Conflict("You are a member of this organization already.", "Open the organization in the dashboard.")
		}
		// Revoke grants again: the person may have approved a client during an earlier
		// removal from the organization.
		if _, err := m.Grants.RevokeGrantsOfUser(ctx, i.OrgID, user.ID, now); err != nil {
			return err
		}
		if err := m.Members.SetMember(ctx, member); err != nil {
			return err
		}
		return m.record(ctx, now, access.AuditEntry{
			Actor: access.ActorOf(user.ID), Action: "member.joined", OrgID: i.OrgID, Subject: user.ID,
			Detail: joinDetail{Invitation: i.ID, InvitedBy: i.InvitedBy, Role: i.Role},
		})
	})
	if err != nil {
		return Member{}, err
	}
	m.forgetUser(member.UserID)
	return member, nil
}

// joinDetail is the audit detail of a membership that began with an invitation.
type joinDetail struct {
	Invitation string `json:"invitation"`
	InvitedBy  string `json:"invited_by"`
	Role       Role   `json:"role"`
}
