package members

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// InvitationLifetime is how long the link of an invitation is valid.
const InvitationLifetime = 7 * 24 * time.Hour

// maxInvitations is the maximum number of open invitations of an organization.
const maxInvitations = 100

// Invitation invites the person who has the email address Email to join an organization.
// Its link has 256 random bits; only their hash is stored.
type Invitation struct {
	ID          string
	OrgID       string
	Hash        []byte
	Email       string
	Role        Role
	Permissions []Permission // permissions of an invited plain member; nil for an owner
	InvitedBy   string       // a user's id, or [access.Operator]
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// InvitationStore stores open and expired invitations. Used and withdrawn invitations are
// deleted. Methods that find or change one invitation fail with core.CodeNotFound if the
// invitation does not exist. Every method takes part in the transaction of its context.
type InvitationStore interface {
	InsertInvitation(ctx context.Context, i Invitation) error
	// Invitations returns the invitations of an organization, newest first.
	Invitations(ctx context.Context, orgID string) ([]Invitation, error)
	InvitationByHash(ctx context.Context, hash []byte) (Invitation, error)
	// DeleteInvitation deletes an invitation. Of several concurrent calls, exactly one
	// succeeds.
	DeleteInvitation(ctx context.Context, orgID, id string) error
	// DeleteInvitationsBy deletes the invitations that a user made and returns their number.
	DeleteInvitationsBy(ctx context.Context, orgID, userID string) (int, error)
}

var errInvitation = errors.New("unknown, expired or void invitation")

// noInvitation returns the error for a link without a valid invitation. It is the same for
// every cause, so that guessed links reveal nothing.
func noInvitation() error {
	return &core.Error{
		Code: core.CodeNotFound, Message: "This invitation link is not valid: it was used or withdrawn, has expired, or never existed.",
		Next: "Ask the person who sent you the link for a new one.", Err: errInvitation,
	}
}

// openInvitation returns the invitation with a link's secret. It fails with
// core.CodeNotFound if the secret is unknown or the invitation has expired. It also fails
// if the inviter may no longer invite, or now lacks the role or a permission that the
// invitation gives.
func (m Memberships) openInvitation(ctx context.Context, secret string, now time.Time) (Invitation, error) {
	if !access.IsLink(secret) {
		return Invitation{}, noInvitation()
	}
	i, err := m.Invitations.InvitationByHash(ctx, access.HashSecret(secret))
	if core.IsNotFound(err) || err == nil && !now.Before(i.ExpiresAt) {
		return Invitation{}, noInvitation()
	}
	if err != nil {
		return Invitation{}, fmt.Errorf("invitation: %w", err)
	}
	may, err := m.authority(ctx, i.OrgID, access.ActorOf(i.InvitedBy))
	if err != nil {
		return Invitation{}, err
	}
	if may.need(MayManageMembers) != nil || may.mayGive(i.Role, i.Permissions) != nil {
		return Invitation{}, noInvitation()
	}
	return i, nil
}

// IsFor reports whether the invitation is for this email address, ignoring case.
func (i Invitation) IsFor(email string) bool { return strings.EqualFold(i.Email, email) }
