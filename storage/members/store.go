package members

import (
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// New returns the store of memberships.
func New(db *engine.DB) members.Store { return memberStore{db} }

// NewOrgStore returns the store of organizations.
func NewOrgStore(db *engine.DB) members.OrgStore { return orgStore{db} }

// NewInvitationStore returns the store of open invitations.
func NewInvitationStore(db *engine.DB) members.InvitationStore { return invitationStore{db} }
